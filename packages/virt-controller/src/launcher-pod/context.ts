import type { ClusterConfig, Hypervisor } from "@polyvirt/hypervisor";
import type { PersistentVolumeClaim } from "@polyvirt/api/k8s";
import type { PossiblePlacement } from "../placement/placement.ts";

/** What the launcher pod depends on besides the VMI itself. */
export interface LauncherPodContext {
  /** The installation's own launcher; a virtualization profile may name another. */
  readonly launcherImage: string;
  /** ES modules from which the launcher, too, loads hypervisors out of tree. */
  readonly hypervisorModules: readonly string[];
  readonly config: ClusterConfig;
  readonly hypervisor: Pick<Hypervisor, "name" | "node" | "resources">;
  /** Claims that the VMI's volumes name, by name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  /** Name of the claim that keeps the guest's state, for a guest whose state outlives its pod. */
  readonly stateClaim?: string | undefined;
  readonly placement: PossiblePlacement;
}

/** Folders inside the launcher's container; virt-handler and virt-launcher rely on them. */
export const launcherPaths = {
  private: "/var/run/kubevirt-private",
  public: "/var/run/kubevirt",
  sockets: "/var/run/kubevirt/sockets",
  ephemeralDisks: "/var/run/kubevirt-ephemeral-disks",
  containerDisks: "/var/run/kubevirt/container-disks",
  sharedFolders: "/var/run/kubevirt/virtiofs-containers",
  persistentState: "/var/run/kubevirt-private/vm-state",
} as const;

export const computeContainer = "compute";
