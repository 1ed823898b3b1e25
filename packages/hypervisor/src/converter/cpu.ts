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
  const withFeatures = (cpu: DomainCpu, extra: readonly DomainCpuFeature[] = []): DomainCpu => {
    const added = extra.filter(({ name }) => !wanted.some((feature) => feature.name === name));
    const features = [...wanted, ...added];
    return features.length === 0 ? cpu : { ...cpu, features };
  };
  const disable = (names: readonly string[]): DomainCpuFeature[] => names.map((name) => ({ name, policy: "disable" }));
  if (model === "host-model" || model === "host-passthrough") {
    if (!isEmulated(vmi, context)) return withFeatures({ mode: model });
    // A host model describes the host's own CPU, which an emulated guest does not run on.
    return withFeatures({ mode: "maximum" }, disable(profile.slowEmulatedCpuFeatures));
  }
  return withFeatures({ mode: "custom", model: { value: model } }, disable(profile.retiredCpuFeatures));
}
