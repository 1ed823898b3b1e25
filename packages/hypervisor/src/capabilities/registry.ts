import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { Architecture } from "../architecture.ts";
import type { CapabilitySupport } from "./capability.ts";
import { features, type FeatureKey } from "./features.ts";
import { baseOverlays } from "./overlays.ts";
import type { Support } from "./support.ts";

/** Support that differs from "fully supported", by overlay: `*`, `arm64`, `mshv`, `mshv/amd64`. */
export type SupportOverlays = Readonly<Record<string, Readonly<Partial<Record<FeatureKey, Support>>>>>;

/** The overlays that apply to one platform, weakest first: what holds for the pair overrides what holds for one of both. */
function overlayOrder(hypervisor: string, architecture: Architecture): string[] {
  return ["*", hypervisor, architecture, `${hypervisor}/${architecture}`];
}

/** Every feature with its level on this platform. */
export function resolveSupport(
  hypervisor: string,
  architecture: Architecture,
  own: SupportOverlays,
): readonly CapabilitySupport[] {
  const order = overlayOrder(hypervisor, architecture);
  return features.map(({ key, title, field }) => {
    const found = order
      .flatMap((name) => [baseOverlays[name]?.[key], own[name]?.[key]])
      .findLast((entry) => entry !== undefined);
    return { key, title, field, level: found?.level ?? "supported", ...found };
  });
}

const finders = new Map<string, (spec: VirtualMachineInstanceSpec) => readonly string[]>(
  features.map(({ key, find }) => [key, find]),
);

/** Where a VMI asks for a feature: paths below its spec. */
export function findUses(key: string, spec: VirtualMachineInstanceSpec): readonly string[] {
  return finders.get(key)?.(spec) ?? [];
}
