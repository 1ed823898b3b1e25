/** What the launcher is told when it starts. */
export interface LauncherOptions {
  /** The VirtualMachineInstance that it serves, and no other. */
  readonly vmi: VmiIdentity;
  readonly podName: string;
  /** The pod's own address, on which ports of the guest are offered. */
  readonly podAddress: string | undefined;
  readonly hypervisor: string;
  /** How long the guest may take to end when the pod is told to. */
  readonly gracePeriodMs: number;
  /** How long the launcher waits for its machine to be started at all. */
  readonly startTimeoutMs: number;
  readonly allowEmulation: boolean;
  readonly allowCrossArchitecture: boolean;
  /** Variables by which the kubelet tells which devices the pod was given. */
  readonly deviceVariables?: Readonly<Record<string, string | undefined>>;
}

export interface VmiIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}
