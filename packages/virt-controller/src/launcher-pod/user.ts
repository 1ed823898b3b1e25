import type { VirtualMachineInstance } from "@polyvirt/api";
import type { ClusterConfig } from "@polyvirt/hypervisor";

/** The user that QEMU has in distributions: launchers need no more rights than it. */
const QEMU_USER = 107;

/**
 * As whom the launcher runs. Admission notes it in the status, but a status given at creation is dropped by Kubernetes;
 * what was never noted must not mean root.
 */
export function launcherUser(
  { status }: Pick<VirtualMachineInstance, "status">,
  config: Pick<ClusterConfig, "isEnabled">,
): number {
  return status?.runtimeUser ?? (config.isEnabled("Root") ? 0 : QEMU_USER);
}
