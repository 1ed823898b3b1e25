import type { VirtualMachineInstanceSpec } from "@polyvirt/api";

/** Devices of the host that the guest drives itself: their memory stays in place. */
export function usesVfio({ domain }: VirtualMachineInstanceSpec): boolean {
  const { hostDevices = [], gpus = [], interfaces = [] } = domain.devices;
  return hostDevices.length > 0 || gpus.length > 0 || interfaces.some(({ sriov }) => sriov !== undefined);
}

export function wantsLockedMemory(spec: VirtualMachineInstanceSpec): boolean {
  const { cpu, launchSecurity, memory } = spec.domain;
  return (
    usesVfio(spec) ||
    cpu?.realtime !== undefined ||
    launchSecurity?.sev !== undefined ||
    launchSecurity?.snp !== undefined ||
    memory?.reservedOverhead?.memLock === "Required"
  );
}
