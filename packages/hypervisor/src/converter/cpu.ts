import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DomainCpu, DomainCpuFeature } from "@polyvirt/domain";
import type { ArchitectureProfile } from "../arch/index.ts";
import type { Configurator } from "../contract.ts";
import { topologyOf } from "../vcpus.ts";
import type { ConverterContext } from "./context.ts";
import { isEmulated } from "./emulation.ts";
import { guestProfile } from "./profile.ts";

/** Number, topology and model of the virtual CPUs. */
export const cpu: Configurator = {
  name: "cpu",
  configure(domain, vmi, context) {
    const profile = guestProfile(vmi, context);
    const { sockets, cores, threads } = topologyOf(vmi.spec.domain.cpu);
    const maxSockets = profile.cpuHotplug ? Math.max(vmi.spec.domain.cpu?.maxSockets || 0, sockets) : sockets;
    const present = sockets * cores * threads;
    const possible = maxSockets * cores * threads;
    domain.vcpu = { value: possible, placement: "static", current: possible > present ? present : undefined };
    domain.cpu = { ...modelOf(vmi, profile, context), topology: { sockets: maxSockets, cores, threads } };
  },
};

function modelOf(vmi: VirtualMachineInstance, profile: ArchitectureProfile, context: ConverterContext): DomainCpu {
  const given = vmi.spec.domain.cpu;
  const model = given?.model || "host-model";
  const wanted: DomainCpuFeature[] = (given?.features ?? []).map(({ name, policy }) => ({
    name,
    policy: policy || "require",
  }));
  const withFeatures = (cpu: DomainCpu, disabled: readonly string[] = []): DomainCpu => {
    const added = disabled
      .filter((name) => !wanted.some((feature) => feature.name === name))
      .map((name) => ({ name, policy: "disable" }));
    const features = [...wanted, ...added];
    return features.length === 0 ? cpu : { ...cpu, features };
  };
  if (hasBestEmulatedCpu(vmi, context)) return withFeatures({ mode: "maximum" });
  if (isHostModel(model)) return withFeatures({ mode: model });
  return withFeatures({ mode: "custom", model: { value: model } }, profile.retiredCpuFeatures);
}

function isHostModel(model: string): boolean {
  return model === "host-model" || model === "host-passthrough";
}

/** A host model describes the host's own CPU, which an emulated guest does not run on: it gets the best that QEMU has. */
export function hasBestEmulatedCpu(vmi: VirtualMachineInstance, context: ConverterContext): boolean {
  return isHostModel(vmi.spec.domain.cpu?.model || "host-model") && isEmulated(vmi, context);
}
