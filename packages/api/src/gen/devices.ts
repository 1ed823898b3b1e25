// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Disk } from "./disk.ts";
import type { Filesystem } from "./filesystem.ts";
import type { GPU, HostDevice } from "./host-device.ts";
import type { Input } from "./input.ts";
import type { Interface } from "./interface.ts";
import type { PanicDevice } from "./panic-device.ts";
import type { SoundDevice } from "./sound.ts";
import type { TPMDevice } from "./tpm.ts";
import type { VideoDevice } from "./video.ts";
import type { Watchdog } from "./watchdog.ts";

/** Devices. */
export interface Devices {
  /** Autoattach graphics device. */
  autoattachGraphicsDevice?: boolean;
  /** Autoattach input device. */
  autoattachInputDevice?: boolean;
  /** Autoattach mem balloon. */
  autoattachMemBalloon?: boolean;
  /** Autoattach pod interface. */
  autoattachPodInterface?: boolean;
  /** Autoattach serial console. */
  autoattachSerialConsole?: boolean;
  /** Autoattach VSOCK. */
  autoattachVSOCK?: boolean;
  /** Block multi queue. */
  blockMultiQueue?: boolean;
  /** Client passthrough. */
  clientPassthrough?: ClientPassthroughDevices;
  /** Disable hotplug. */
  disableHotplug?: boolean;
  /** Disks. */
  disks?: Disk[];
  /** Downward metrics. */
  downwardMetrics?: DownwardMetrics;
  /** Filesystems. */
  filesystems?: Filesystem[];
  /** Gpus. */
  gpus?: GPU[];
  /** Host devices. */
  hostDevices?: HostDevice[];
  /** Inputs. */
  inputs?: Input[];
  /** Interfaces. */
  interfaces?: Interface[];
  /** Log serial console. */
  logSerialConsole?: boolean;
  /** Network interface multiqueue. */
  networkInterfaceMultiqueue?: boolean;
  /** Panic devices. */
  panicDevices?: PanicDevice[];
  /** Rng. */
  rng?: Rng;
  /** Sound. */
  sound?: SoundDevice;
  /** Tpm. */
  tpm?: TPMDevice;
  /** Use virtio transitional. */
  useVirtioTransitional?: boolean;
  /** Video. */
  video?: VideoDevice;
  /** Watchdog. */
  watchdog?: Watchdog;
}

/** Client passthrough devices. */
export type ClientPassthroughDevices = Record<string, never>;

/** Downward metrics. */
export type DownwardMetrics = Record<string, never>;

/** Rng. */
export type Rng = Record<string, never>;
