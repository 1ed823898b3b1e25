import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DefaultsContext } from "../contract.ts";
import { cpusOf } from "../quantity.ts";
import { isUnset } from "./step.ts";

/** Without a topology the guest gets one core per requested CPU, each on its own socket so that sockets can be added. */
export function setCpuTopology(draft: VirtualMachineInstance): void {
  const { domain } = draft.spec;
  const { cores, sockets, threads } = domain.cpu ?? {};
  if (!isUnset(cores) || !isUnset(sockets) || !isUnset(threads)) return;
  const { limits, requests } = domain.resources ?? {};
  const wanted = cpusOf(limits?.["cpu"]) || cpusOf(requests?.["cpu"]) || 1;
  domain.cpu = { ...domain.cpu, cores: 1, threads: 1, sockets: Math.ceil(wanted) };
}

/** A step that sets the CPU model of one hypervisor or architecture. */
export function cpuModelDefault(model: string): (draft: VirtualMachineInstance) => void {
  return (draft) => {
    const { domain } = draft.spec;
    if (isUnset(domain.cpu?.model)) domain.cpu = { ...domain.cpu, model };
  };
}

/** Last word, when neither hypervisor nor architecture had one: what the cluster says, else the host's own model. */
export function setFallbackCpuModel(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  cpuModelDefault(config.cpuModel ?? "host-model")(draft);
}
