/** What a request wants, read from its method and path alone; authorization and routing both decide by it. */
export interface RequestInfo {
  readonly path: string;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly verb: string;
  readonly resource?: ResourceRequest;
}

export interface ResourceRequest {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
  /** What follows the subresource, for proxies. */
  readonly rest: string;
}

const namespaceSubresources = new Set(["status", "finalize"]);
const verbOfMethod: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

export function parseRequest(method: string, url: string): RequestInfo {
  const { pathname, searchParams: query } = new URL(url, "https://localhost");
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(safeDecode);
  const resource = parseResource(parts);
  if (resource === undefined) return { path: pathname, method, query, verb: method.toLowerCase() };
  return { path: pathname, method, query, verb: verbOf(method, resource, query), resource };
}

function parseResource(parts: readonly string[]): ResourceRequest | undefined {
  const isCore = parts[0] === "api";
  if (!isCore && parts[0] !== "apis") return undefined;
  const [group = "", version = ""] = isCore ? ["", parts[1]] : [parts[1], parts[2]];
  const tail = parts.slice(isCore ? 2 : 3);
  const [first, second, third] = tail;
  if (first === undefined) return undefined;
  const make = (namespace: string, rest: readonly string[]): ResourceRequest => ({
    group,
    version,
    namespace,
    plural: rest[0] ?? "",
    name: rest[1] ?? "",
    subresource: rest[2] ?? "",
    rest: rest.slice(3).join("/"),
  });
  const inNamespace =
    first === "namespaces" &&
    second !== undefined &&
    third !== undefined &&
    !(isCore && namespaceSubresources.has(third));
  if (inNamespace) return make(second, tail.slice(2));
  // A request for one namespace belongs to that namespace, so that its own roles can allow it.
  return make(isCore && first === "namespaces" ? (second ?? "") : "", tail);
}

function verbOf(method: string, resource: ResourceRequest, query: URLSearchParams): string {
  const verb = verbOfMethod[method] ?? method.toLowerCase();
  if (resource.name !== "") return verb;
  if (verb === "get") return isTrue(query.get("watch")) ? "watch" : "list";
  return verb === "delete" ? "deletecollection" : verb;
}

export const isTrue = (value: string | null): boolean => value === "true" || value === "1";

function safeDecode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
