// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { PodAffinityTerm, WeightedPodAffinityTerm } from "../k8s/affinity.ts";

/** Pod anti affinity. */
export interface PodAntiAffinity {
  /** Preferred during scheduling ignored during execution. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
  /** Required during scheduling ignored during execution. */
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
}

/** Pod DNS config. */
export interface PodDNSConfig {
  /** Nameservers. */
  nameservers?: string[];
  /** Options. */
  options?: PodDNSConfigOption[];
  /** Searches. */
  searches?: string[];
}

/** Pod DNS config option. */
export interface PodDNSConfigOption {
  /** Name. */
  name?: string;
  /** Value. */
  value?: string;
}
