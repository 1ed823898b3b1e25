import type { ClusterConfig, Hypervisor } from "@polyvirt/hypervisor";
import type { PersistentVolumeClaim } from "@polyvirt/api/k8s";

/** What the launcher pod depends on besides the VMI itself. */
export interface LauncherPodContext {
  readonly launcherImage: string;
  readonly config: ClusterConfig;
  readonly hypervisor: Pick<Hypervisor, "name" | "node" | "resources">;
  /** Claims that the VMI's volumes name, by name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  /** Whether every node that may run guests offers the resource, so that asking for it excludes none. */
  readonly everyNodeOffers: (resourceName: string) => boolean;
}

/** Whether guests may run on nodes of another architecture: both the gate and emulation must be on. */
export function allowsCrossArchitecture({ config }: Pick<LauncherPodContext, "config">): boolean {
  return config.useEmulation && config.isEnabled("MultiArchitectureSoftwareEmulation");
}

/** Folders inside the launcher's container; virt-handler and virt-launcher rely on them. */
export const launcherPaths = {
  private: "/var/run/kubevirt-private",
  public: "/var/run/kubevirt",
  sockets: "/var/run/kubevirt/sockets",
  ephemeralDisks: "/var/run/kubevirt-ephemeral-disks",
  containerDisks: "/var/run/kubevirt/container-disks",
} as const;

export const computeContainer = "compute";
