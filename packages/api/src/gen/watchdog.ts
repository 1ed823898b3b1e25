// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Watchdog. */
export interface Watchdog {
  /** Name. */
  name: string;
  /** Diag288. */
  diag288?: Diag288Watchdog;
  /** I6300esb. */
  i6300esb?: I6300ESBWatchdog;
}

/** Diag288 watchdog. */
export interface Diag288Watchdog {
  /** Action. */
  action?: "poweroff" | "reset" | "shutdown" | (string & {});
}

/** I6300 ESB watchdog. */
export interface I6300ESBWatchdog {
  /** Action. */
  action?: "poweroff" | "reset" | "shutdown" | (string & {});
}
