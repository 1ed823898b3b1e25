// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** CPU. */
export interface CPU {
  /** Cores. */
  cores?: number;
  /** Dedicated cpu placement. */
  dedicatedCpuPlacement?: boolean;
  /** Features. */
  features?: CPUFeature[];
  /** Isolate emulator thread. */
  isolateEmulatorThread?: boolean;
  /** Max sockets. */
  maxSockets?: number;
  /** Model. */
  model?: string;
  /** Numa. */
  numa?: NUMA;
  /** Realtime. */
  realtime?: Realtime;
  /** Sockets. */
  sockets?: number;
  /** Threads. */
  threads?: number;
}

/** CPU feature. */
export interface CPUFeature {
  /** Name. */
  name: string;
  /** Policy. */
  policy?: "force" | "require" | "optional" | "disable" | "forbid" | (string & {});
}

/** NUMA. */
export interface NUMA {
  /** Guest mapping passthrough. */
  guestMappingPassthrough?: NUMAGuestMappingPassthrough;
}

/** NUMA guest mapping passthrough. */
export type NUMAGuestMappingPassthrough = Record<string, never>;

/** Realtime. */
export interface Realtime {
  /** Mask. */
  mask?: string;
}
