import type { ResourceType } from "@polyvirt/api/k8s";

export interface ResourceTarget {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `/api/v1/namespaces/default/pods/web/status`, `/apis/apps/v1/deployments`. */
export function resourcePath(type: ResourceType, target: ResourceTarget = {}): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope =
    type.namespaced && target.namespace !== undefined ? `/namespaces/${encodeURIComponent(target.namespace)}` : "";
  const name = target.name === undefined ? "" : `/${encodeURIComponent(target.name)}`;
  const subresource = target.subresource === undefined ? "" : `/${target.subresource}`;
  return `${root}${scope}/${type.plural}${name}${subresource}`;
}

/** `pods default/web`: how messages name an object. */
export function describeTarget(type: ResourceType, target: ResourceTarget = {}): string {
  const kind = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
  const subresource = target.subresource === undefined ? "" : `/${target.subresource}`;
  const path = [target.namespace, target.name].filter((part) => part !== undefined).join("/");
  return path === "" ? `${kind}${subresource}` : `${kind}${subresource} ${path}`;
}

/** Adds query parameters; those without a value are left out. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== false) parameters.set(key, String(value));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${text}`;
}
