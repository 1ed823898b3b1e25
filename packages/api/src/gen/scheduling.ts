// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { PodAffinityTerm, WeightedPodAffinityTerm } from "../k8s/affinity.ts";

/** Rules about pods to be away from. */
export interface PodAntiAffinity {
  /** Wishes, each with a weight. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
  /** What must hold. */
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
}

/** Name servers of a pod. */
export interface PodDNSConfig {
  /** Addresses of the servers. */
  nameservers?: string[];
  /** Options of the resolver. */
  options?: PodDNSConfigOption[];
  /** Domains to search. */
  searches?: string[];
}

/** An option of the resolver. */
export interface PodDNSConfigOption {
  /** Its name. */
  name?: string;
  /** Its value. */
  value?: string;
}
