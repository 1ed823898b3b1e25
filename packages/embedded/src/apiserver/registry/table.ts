import type { ApiObject } from "../kinds/kind.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { Resource } from "./resource.ts";

export type IncludeObject = "Metadata" | "None" | "Object";

/** The form of `kubectl get`: columns and rows that the server fills. */
export function tableOf(
  resource: Resource,
  objects: readonly ApiObject[],
  options: {
    readonly metadata: JsonObject;
    readonly include: IncludeObject;
    readonly now: number;
    readonly withColumns?: boolean;
  },
): JsonObject {
  const columnDefinitions = resource.columns.map(({ name, type, format = "", description = "", priority = 0 }) => ({
    name,
    type,
    format,
    description: description === "" ? name : description,
    priority,
  }));
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: options.metadata,
    columnDefinitions: options.withColumns === false ? [] : columnDefinitions,
    rows: objects.map((object) => ({
      cells: resource.columns.map((column) => cellOf(column.value(object, options.now))),
      ...(options.include === "None"
        ? {}
        : { object: options.include === "Object" ? object : partialMetadata(object) }),
    })),
  };
}

function cellOf(value: unknown): unknown {
  if (value === undefined) return null;
  return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : value;
}

export function partialMetadata(object: ApiObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}
