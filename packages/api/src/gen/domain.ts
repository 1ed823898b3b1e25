// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Quantity } from "../wire-types.ts";
import type { Clock } from "./clock.ts";
import type { CPU } from "./cpu.ts";
import type { Devices } from "./devices.ts";
import type { Features } from "./features.ts";
import type { Firmware } from "./firmware.ts";
import type { LaunchSecurity } from "./launch-security.ts";
import type { Memory } from "./memory.ts";

/** Domain spec. */
export interface DomainSpec {
  /** Chassis. */
  chassis?: Chassis;
  /** Clock. */
  clock?: Clock;
  /** Cpu. */
  cpu?: CPU;
  /** Devices. */
  devices: Devices;
  /** Features. */
  features?: Features;
  /** Firmware. */
  firmware?: Firmware;
  /** Io threads. */
  ioThreads?: DiskIOThreads;
  /** Io threads policy. */
  ioThreadsPolicy?: "shared" | "auto" | "supplementalPool" | (string & {});
  /** Launch security. */
  launchSecurity?: LaunchSecurity;
  /** Machine. */
  machine?: Machine;
  /** Memory. */
  memory?: Memory;
  /** Reboot policy. */
  rebootPolicy?: "Reboot" | "Terminate" | (string & {});
  /** Resources. */
  resources?: ResourceRequirements;
}

/** Chassis. */
export interface Chassis {
  /** Asset. */
  asset?: string;
  /** Manufacturer. */
  manufacturer?: string;
  /** Serial. */
  serial?: string;
  /** Sku. */
  sku?: string;
  /** Version. */
  version?: string;
}

/** Machine. */
export interface Machine {
  /** Type. */
  type?: string;
}

/** Disk IO threads. */
export interface DiskIOThreads {
  /** Supplemental pool thread count. */
  supplementalPoolThreadCount?: number;
}

/** Resource requirements. */
export interface ResourceRequirements {
  /** Limits. */
  limits?: Record<string, Quantity>;
  /** Overcommit guest overhead. */
  overcommitGuestOverhead?: boolean;
  /** Requests. */
  requests?: Record<string, Quantity>;
}
