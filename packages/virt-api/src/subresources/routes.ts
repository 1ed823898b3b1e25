/** The subresource API as a table: what there is, how it is called, and what answers. */

type Target = "virtualmachines" | "virtualmachineinstances";

export interface SubresourceRoute {
  readonly method: "GET" | "PUT";
  readonly resource: Target;
  /** Path after the object's name; a part in braces stands for any value. */
  readonly path: string;
  /** Name in RBAC rules and discovery. */
  readonly subresource: string;
  /** Answered by a WebSocket. */
  readonly stream: boolean;
  readonly served: boolean;
}

const serve = { served: true } as const;
const later = { served: false } as const;

function put(resource: Target, names: readonly string[], state: { served: boolean }): SubresourceRoute[] {
  return names.map((path) => ({ method: "PUT", resource, path, subresource: path, stream: false, ...state }));
}

function get(resource: Target, names: readonly string[], state: { served: boolean }): SubresourceRoute[] {
  return names.map((path) => ({ method: "GET", resource, path, subresource: path, stream: false, ...state }));
}

function streams(resource: Target, paths: readonly string[], state: { served: boolean }): SubresourceRoute[] {
  return paths.map((path) => ({
    method: "GET",
    resource,
    path,
    subresource: path.split("/{")[0] ?? path,
    stream: true,
    ...state,
  }));
}

const portForwards = ["portforward/{port}", "portforward/{port}/{protocol}"];

export const subresourceRoutes: readonly SubresourceRoute[] = [
  ...streams("virtualmachineinstances", ["console", "vnc", ...portForwards], serve),
  ...streams("virtualmachineinstances", ["usbredir", "vsock"], later),
  ...get("virtualmachineinstances", ["guestosinfo", "userlist", "filesystemlist", "vnc/screenshot"], serve),
  ...get("virtualmachineinstances", ["objectgraph"], later),
  ...get("virtualmachineinstances", ["sev/fetchcertchain", "sev/querylaunchmeasurement"], later),
  ...put("virtualmachineinstances", ["pause", "unpause", "softreboot", "reset", "freeze", "unfreeze"], serve),
  ...put("virtualmachineinstances", ["addvolume", "removevolume"], serve),
  ...put("virtualmachineinstances", ["backup", "redefine-checkpoint"], later),
  ...put("virtualmachineinstances", ["evacuate/cancel", "sev/setupsession", "sev/injectlaunchsecret"], later),
  ...put("virtualmachines", ["start", "stop", "restart", "migrate", "addvolume", "removevolume"], later),
  ...put("virtualmachines", ["memorydump", "removememorydump", "evacuate/cancel"], later),
  ...get("virtualmachines", ["expand-spec", "objectgraph"], later),
  ...streams("virtualmachines", portForwards, later),
];

/** Paths below the version that belong to no object. */
export const clusterRoutes = {
  version: serve,
  healthz: serve,
  guestfs: later,
  "start-cluster-profiler": later,
  "stop-cluster-profiler": later,
  "dump-cluster-profiler": later,
} as const satisfies Readonly<Record<string, { served: boolean }>>;

export interface RouteMatch {
  readonly route: SubresourceRoute;
  readonly namespace: string;
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const objectPath = /^\/namespaces\/([^/]+)\/(virtualmachines|virtualmachineinstances)\/([^/]+)\/(.+)$/;

/** Finds what a path below the group's version asks for. */
export function matchRoute(method: string, path: string): RouteMatch | undefined {
  const match = objectPath.exec(path);
  if (match === null) return undefined;
  const [, namespace = "", resource = "", name = "", rest = ""] = match;
  for (const route of subresourceRoutes) {
    if (route.resource !== resource || route.method !== method) continue;
    const parameters = matchParts(route.path, rest);
    if (parameters !== undefined) return { route, namespace, name, parameters };
  }
  return undefined;
}

function matchParts(pattern: string, text: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const given = text.split("/");
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith("{")) parameters[part.slice(1, -1)] = value;
    else if (part !== value) return undefined;
  }
  return parameters;
}
