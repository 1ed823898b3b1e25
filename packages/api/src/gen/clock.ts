// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** The guest's clock and timers. One of timezone and utc is set. */
export interface Clock {
  /** Timers that the guest has. */
  timer?: Timer;
  /** The clock shows the time of this zone, for example Europe/Berlin. */
  timezone?: string;
  /** The clock shows universal time. */
  utc?: ClockOffsetUTC;
}

/** A clock in universal time. */
export interface ClockOffsetUTC {
  /** Seconds that it differs; then changes by the guest are not kept. */
  offsetSeconds?: number;
}

/** Timers of a guest. */
export interface Timer {
  /** High precision event timer. */
  hpet?: HPETTimer;
  /** Hyper-V reference counter. */
  hyperv?: HypervTimer;
  /** KVM's paravirtual clock. */
  kvm?: KVMTimer;
  /** Programmable interval timer. */
  pit?: PITTimer;
  /** Real time clock. */
  rtc?: RTCTimer;
}

/** High precision event timer. */
export interface HPETTimer {
  /** The guest has it; true when unset. */
  present?: boolean;
  /** What becomes of ticks that the guest could not get in time. */
  tickPolicy?: "delay" | "catchup" | "merge" | "discard" | (string & {});
}

/** Hyper-V reference counter. */
export interface HypervTimer {
  /** The guest has it; true when unset. */
  present?: boolean;
}

/** KVM's paravirtual clock. */
export interface KVMTimer {
  /** The guest has it; true when unset. */
  present?: boolean;
}

/** Programmable interval timer. */
export interface PITTimer {
  /** The guest has it; true when unset. */
  present?: boolean;
  /** What becomes of ticks that the guest could not get in time. */
  tickPolicy?: "delay" | "catchup" | "discard" | (string & {});
}

/** Real time clock. */
export interface RTCTimer {
  /** The guest has it; true when unset. */
  present?: boolean;
  /** What becomes of ticks that the guest could not get in time. */
  tickPolicy?: "delay" | "catchup" | (string & {});
  /** Whether it follows the guest's time or the wall clock. */
  track?: "guest" | "wall" | (string & {});
}
