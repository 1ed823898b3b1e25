import { badRequest } from "../http/status-error.ts";
import type { IncludeObject } from "../registry/table.ts";

/** How much of each object a table carries beside its cells. */
export function includeOf(query: URLSearchParams): IncludeObject {
  const value = query.get("includeObject") ?? "";
  if (value === "") return "Metadata";
  if (value === "Metadata" || value === "None" || value === "Object") return value;
  throw badRequest(
    `includeObject: Unsupported value: ${JSON.stringify(value)}: supported values: "Metadata", "None", "Object"`,
  );
}
