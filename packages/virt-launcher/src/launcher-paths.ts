import { hotplugDisks } from "@polyvirt/api";

/** Folders of the launcher's container. Tests put them elsewhere; everything else uses `podPaths`. */
export interface LauncherPaths {
  /** The launcher's own: sockets of the guest's devices, claims' file systems. */
  readonly private: string;
  /** Shared with the node agent. */
  readonly public: string;
  /** Where the command socket appears. */
  readonly sockets: string;
  readonly ephemeralDisks: string;
  /** Where image volumes are mounted, by volume name. */
  readonly containerDisks: string;
  /** Where the node agent shows disks that come while the guest runs. */
  readonly hotplugDisks: string;
  readonly devices: string;
  /** Where the kubelet mounts the token of a guest's account. */
  readonly serviceAccount: string;
  /** Where a volume for state that outlives the pod is mounted, when the VMI has one. */
  readonly persistentState: string;
}

export const podPaths: LauncherPaths = {
  private: "/var/run/kubevirt-private",
  public: "/var/run/kubevirt",
  sockets: "/var/run/kubevirt/sockets",
  ephemeralDisks: "/var/run/kubevirt-ephemeral-disks",
  containerDisks: "/var/run/kubevirt/container-disks",
  hotplugDisks: hotplugDisks.mountPath,
  devices: "/dev",
  serviceAccount: "/var/run/secrets/kubernetes.io/serviceaccount",
  persistentState: "/var/run/kubevirt-private/vm-state",
};
