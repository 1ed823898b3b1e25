import type { Condition, KubeObject, ResourceType } from "./meta.ts";

export interface APIService extends KubeObject {
  spec: {
    group?: string;
    version?: string;
    groupPriorityMinimum: number;
    versionPriority: number;
    service?: { namespace?: string; name?: string; port?: number };
    /** Base64 of the PEM bundle. */
    caBundle?: string;
    insecureSkipTLSVerify?: boolean;
  };
  status?: { conditions?: Condition[] };
}

export const apiServices: ResourceType<APIService> = {
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  plural: "apiservices",
  namespaced: false,
};
