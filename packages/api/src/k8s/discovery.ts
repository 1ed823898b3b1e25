import type { ObjectReference } from "./core.ts";
import type { KubeObject, ResourceType } from "./meta.ts";

export interface Endpoint {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  targetRef?: ObjectReference;
  nodeName?: string;
  zone?: string;
}

export interface EndpointSlice extends KubeObject {
  addressType: "IPv4" | "IPv6" | "FQDN";
  endpoints: Endpoint[];
  ports?: { name?: string; protocol?: "TCP" | "UDP" | "SCTP"; port?: number; appProtocol?: string }[];
}

export const endpointSlices: ResourceType<EndpointSlice> = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};
