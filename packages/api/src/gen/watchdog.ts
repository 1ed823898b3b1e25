// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A device that acts when the guest hangs. One of i6300esb and diag288 is set. */
export interface Watchdog {
  /** Name of the device. */
  name: string;
  /** The watchdog of IBM Z. */
  diag288?: Diag288Watchdog;
  /** The watchdog of other architectures. */
  i6300esb?: I6300ESBWatchdog;
}

/** The watchdog of IBM Z. */
export interface Diag288Watchdog {
  /** What it does; reset when unset. */
  action?: "poweroff" | "reset" | "shutdown" | (string & {});
}

/** A PCI watchdog. */
export interface I6300ESBWatchdog {
  /** What it does; reset when unset. */
  action?: "poweroff" | "reset" | "shutdown" | (string & {});
}
