import { subresourceGroup } from "@polyvirt/api";
import { subresourceRoutes } from "./routes.ts";

export const subresourceVersions = ["v1", "v1alpha3"] as const;

/** Documents by which clients learn what this API has; the API server merges them into its own. */
export function discoveryDocument(path: string): object | undefined {
  const groupPath = `/apis/${subresourceGroup}`;
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: [group()] };
  if (path === groupPath) return { apiVersion: "v1", ...group() };
  const version = subresourceVersions.find((known) => path === `${groupPath}/${known}`);
  return version === undefined ? undefined : resourceList(version);
}

function group(): object {
  const versions = subresourceVersions.map((version) => ({ groupVersion: `${subresourceGroup}/${version}`, version }));
  return { kind: "APIGroup", name: subresourceGroup, versions, preferredVersion: versions[0] };
}

function resourceList(version: string): object {
  const found = new Map<string, Set<string>>();
  for (const { resource, subresource, method, served } of subresourceRoutes) {
    if (!served) continue;
    const name = `${resource}/${subresource}`;
    const verbs = found.get(name) ?? new Set();
    found.set(name, verbs.add(method === "GET" ? "get" : "update"));
  }
  const objects = [...found].map(([name, verbs]) => ({
    name,
    singularName: "",
    namespaced: true,
    kind: "",
    verbs: [...verbs],
  }));
  const cluster = ["version", "healthz"].map((name) => ({
    name,
    singularName: "",
    namespaced: false,
    kind: "",
    verbs: ["get"],
  }));
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: `${subresourceGroup}/${version}`,
    resources: [...objects, ...cluster],
  };
}
