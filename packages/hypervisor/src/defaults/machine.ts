import type { VirtualMachineInstance } from "@polyvirt/api";
import { parseArchitecture } from "../architecture.ts";
import type { DefaultsContext } from "../contract.ts";
import { isUnset } from "./step.ts";

export function setArchitecture(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  if (isUnset(draft.spec.architecture)) draft.spec.architecture = config.defaultArchitecture;
}

export function setMachineType(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  const architecture = parseArchitecture(draft.spec.architecture ?? "");
  if (architecture === undefined || !isUnset(draft.spec.domain.machine?.type)) return;
  draft.spec.domain.machine = { ...draft.spec.domain.machine, type: config.machines[architecture].machineType };
}

export function setEvictionStrategy(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  if (!isUnset(draft.spec.evictionStrategy) || config.evictionStrategy === undefined) return;
  draft.spec.evictionStrategy = config.evictionStrategy;
}

/** The layout of PCI slots changed twice over time; guests made now say which one they were made with. */
export function setPciTopologyVersion(draft: VirtualMachineInstance): void {
  const type = draft.spec.domain.machine?.type ?? "";
  const annotation = "kubevirt.io/pci-topology-version";
  if (!/^(pc-)?q35|^virt/.test(type) || draft.metadata.annotations?.[annotation] !== undefined) return;
  draft.metadata.annotations = { ...draft.metadata.annotations, [annotation]: "v3" };
}
