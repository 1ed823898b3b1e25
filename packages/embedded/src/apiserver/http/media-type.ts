import { notAcceptable } from "./status-error.ts";

/** How a client wants its answer. */
export interface ResponseFormat {
  readonly encoding: "json" | "yaml";
  readonly as: "object" | "table" | "metadata";
  readonly pretty: boolean;
}

const offered = ["application/json", "application/yaml"];

interface AcceptClause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

export function negotiate(accept: string | undefined, query: URLSearchParams): ResponseFormat {
  const pretty = ["1", "true"].includes(query.get("pretty") ?? "");
  for (const clause of parseAccept(accept ?? "*/*")) {
    const format = formatOf(clause);
    if (format !== undefined) return { ...format, pretty };
  }
  throw notAcceptable(offered);
}

export function parseAccept(header: string): AcceptClause[] {
  return header.split(",").map((clause) => {
    const [type = "", ...rest] = clause.split(";").map((part) => part.trim());
    return { type, parameters: new Map(rest.map((part) => part.split("=", 2) as [string, string])) };
  });
}

function formatOf({ type, parameters }: AcceptClause): Omit<ResponseFormat, "pretty"> | undefined {
  const encoding = encodingOf(type);
  if (encoding === undefined) return undefined;
  const as = parameters.get("as");
  if (as === undefined) return { encoding, as: "object" };
  if (parameters.get("g") !== "meta.k8s.io" || !["v1", "v1beta1"].includes(parameters.get("v") ?? "")) return undefined;
  if (as === "Table") return { encoding, as: "table" };
  return as === "PartialObjectMetadata" || as === "PartialObjectMetadataList"
    ? { encoding, as: "metadata" }
    : undefined;
}

function encodingOf(type: string): "json" | "yaml" | undefined {
  if (type === "application/json" || type === "*/*" || type === "application/*") return "json";
  return type === "application/yaml" ? "yaml" : undefined;
}
