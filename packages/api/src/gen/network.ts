// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { ClaimRequest } from "./resource-claim.ts";

/** Network. */
export interface Network {
  /** Name. */
  name: string;
  /** Multus. */
  multus?: MultusNetwork;
  /** Pod. */
  pod?: PodNetwork;
  /** Resource claim. */
  resourceClaim?: ClaimRequest;
}

/** Multus network. */
export interface MultusNetwork {
  /** Default. */
  default?: boolean;
  /** Network name. */
  networkName: string;
}

/** Pod network. */
export interface PodNetwork {
  /** Vm I pv6 network CIDR. */
  vmIPv6NetworkCIDR?: string;
  /** Vm network CIDR. */
  vmNetworkCIDR?: string;
}
