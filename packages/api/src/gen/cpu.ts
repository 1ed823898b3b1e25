// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** vCPUs of a guest. */
export interface CPU {
  /** Cores in each socket. */
  cores?: number;
  /** Give each vCPU a CPU of its own. */
  dedicatedCpuPlacement?: boolean;
  /** Single CPU features to add or take away. */
  features?: CPUFeature[];
  /** Give the emulator a CPU of its own, besides those of the vCPUs. */
  isolateEmulatorThread?: boolean;
  /** To how many sockets the running guest may grow. */
  maxSockets?: number;
  /** CPU model, host-model or host-passthrough. */
  model?: string;
  /** How the guest's memory nodes follow those of the node. */
  numa?: NUMA;
  /** Run vCPUs with real-time priority. */
  realtime?: Realtime;
  /** Sockets. */
  sockets?: number;
  /** Threads in each core. */
  threads?: number;
}

/** A CPU feature. */
export interface CPUFeature {
  /** Its name, for example vmx. */
  name: string;
  /** What to do about it; require when unset. */
  policy?: "force" | "require" | "optional" | "disable" | "forbid" | (string & {});
}

/** How the guest's memory nodes are arranged. */
export interface NUMA {
  /** As those of the node that its CPUs are on. */
  guestMappingPassthrough?: NUMAGuestMappingPassthrough;
}

/** Present to copy the arrangement of the node. */
export type NUMAGuestMappingPassthrough = Record<string, never>;

/** Real-time priority of vCPUs. */
export interface Realtime {
  /** Which vCPUs, for example 0-3,^1; all when unset. */
  mask?: string;
}
