import type { Architecture } from "../architecture.ts";
import type { CapabilityExtractor } from "../contract.ts";
import type { CapabilitySupport } from "./capability.ts";
import { hypervFeatures } from "./hyperv.ts";
import { resolveSupport, type SupportOverlays } from "./registry.ts";

export function createCapabilityExtractor(hypervisor: string, overlays: SupportOverlays): CapabilityExtractor {
  const resolved = new Map<Architecture, readonly CapabilitySupport[]>();
  return {
    getHypervFeatures: hypervFeatures,
    support(architecture) {
      const known = resolved.get(architecture) ?? resolveSupport(hypervisor, architecture, overlays);
      resolved.set(architecture, known);
      return known;
    },
  };
}
