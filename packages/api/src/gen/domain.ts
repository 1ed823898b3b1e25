// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Quantity } from "../wire-types.ts";
import type { Clock } from "./clock.ts";
import type { CPU } from "./cpu.ts";
import type { Devices } from "./devices.ts";
import type { Features } from "./features.ts";
import type { Firmware } from "./firmware.ts";
import type { LaunchSecurity } from "./launch-security.ts";
import type { Memory } from "./memory.ts";

/** The hardware of a guest. */
export interface DomainSpec {
  /** What the guest reads about its case. */
  chassis?: Chassis;
  /** The guest's clock and timers. */
  clock?: Clock;
  /** vCPUs: how many, of which model, and where they run. */
  cpu?: CPU;
  /** Disks, interfaces and other devices. */
  devices: Devices;
  /** Features of the virtual hardware. */
  features?: Features;
  /** How the guest starts. */
  firmware?: Firmware;
  /** Extra threads for disks. */
  ioThreads?: DiskIOThreads;
  /** How disks share threads. */
  ioThreadsPolicy?: "shared" | "auto" | "supplementalPool" | (string & {});
  /** Protection of the guest's memory from the host. */
  launchSecurity?: LaunchSecurity;
  /** Type of the virtual hardware. */
  machine?: Machine;
  /** Memory of the guest. */
  memory?: Memory;
  /** What a reboot from inside the guest does. */
  rebootPolicy?: "Reboot" | "Terminate" | (string & {});
  /** CPU and memory that the guest's pod asks for. */
  resources?: ResourceRequirements;
}

/** What a guest reads about its case. */
export interface Chassis {
  /** Asset tag. */
  asset?: string;
  /** Maker. */
  manufacturer?: string;
  /** Serial number. */
  serial?: string;
  /** Stock number. */
  sku?: string;
  /** Version. */
  version?: string;
}

/** Type of the virtual hardware. */
export interface Machine {
  /** QEMU's name of it, for example q35; the architecture's usual one when unset. */
  type?: string;
}

/** Extra threads for disks. */
export interface DiskIOThreads {
  /** How many threads all disks share under the policy supplementalPool. */
  supplementalPoolThreadCount?: number;
}

/** Resources of a guest's pod. */
export interface ResourceRequirements {
  /** The most it may use. */
  limits?: Record<string, Quantity>;
  /** Do not ask for the memory that the launcher needs besides the guest's. */
  overcommitGuestOverhead?: boolean;
  /** What is set aside for it; memory is the guest's size when memory.guest is unset. */
  requests?: Record<string, Quantity>;
}
