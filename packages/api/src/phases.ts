import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "./gen/virtual-machine-instance.ts";

/** How far a machine instance is. virt-controller owns it up to Scheduled, virt-handler from there on. */
export type VirtualMachineInstancePhase = NonNullable<VirtualMachineInstanceStatus["phase"]>;

/** Whether the instance has ended and will not run again. */
export function isFinal(vmi: Pick<VirtualMachineInstance, "status">): boolean {
  return vmi.status?.phase === "Succeeded" || vmi.status?.phase === "Failed";
}

export function isRunning(vmi: Pick<VirtualMachineInstance, "status">): boolean {
  return vmi.status?.phase === "Running";
}
