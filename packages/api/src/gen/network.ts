// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { ClaimRequest } from "./resource-claim.ts";

/** A network that an interface connects to. One field says which. */
export interface Network {
  /** Name by which the interface refers to it. */
  name: string;
  /** A network that Multus attaches to the pod. */
  multus?: MultusNetwork;
  /** The pod network. */
  pod?: PodNetwork;
  /** A network device of a resource claim. */
  resourceClaim?: ClaimRequest;
}

/** A network that Multus attaches to the pod. */
export interface MultusNetwork {
  /** Use it in place of the pod network. */
  default?: boolean;
  /** Its NetworkAttachmentDefinition, as name or namespace/name. */
  networkName: string;
}

/** The pod network. */
export interface PodNetwork {
  /** IPv6 network between guest and pod; fd10:0:2::/120 when unset. */
  vmIPv6NetworkCIDR?: string;
  /** IPv4 network between guest and pod; 10.0.2.0/24 when unset. */
  vmNetworkCIDR?: string;
}
