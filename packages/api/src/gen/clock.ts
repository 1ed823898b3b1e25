// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Clock. */
export interface Clock {
  /** Timer. */
  timer?: Timer;
  /** Timezone. */
  timezone?: string;
  /** Utc. */
  utc?: ClockOffsetUTC;
}

/** Clock offset UTC. */
export interface ClockOffsetUTC {
  /** Offset seconds. */
  offsetSeconds?: number;
}

/** Timer. */
export interface Timer {
  /** Hpet. */
  hpet?: HPETTimer;
  /** Hyperv. */
  hyperv?: HypervTimer;
  /** Kvm. */
  kvm?: KVMTimer;
  /** Pit. */
  pit?: PITTimer;
  /** Rtc. */
  rtc?: RTCTimer;
}

/** HPET timer. */
export interface HPETTimer {
  /** Present. */
  present?: boolean;
  /** Tick policy. */
  tickPolicy?: "delay" | "catchup" | "merge" | "discard" | (string & {});
}

/** Hyperv timer. */
export interface HypervTimer {
  /** Present. */
  present?: boolean;
}

/** KVM timer. */
export interface KVMTimer {
  /** Present. */
  present?: boolean;
}

/** PIT timer. */
export interface PITTimer {
  /** Present. */
  present?: boolean;
  /** Tick policy. */
  tickPolicy?: "delay" | "catchup" | "discard" | (string & {});
}

/** RTC timer. */
export interface RTCTimer {
  /** Present. */
  present?: boolean;
  /** Tick policy. */
  tickPolicy?: "delay" | "catchup" | (string & {});
  /** Track. */
  track?: "guest" | "wall" | (string & {});
}
