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

/** Devices of a guest. */
export interface Devices {
  /** Give the guest a graphics device and VNC; true when unset. */
  autoattachGraphicsDevice?: boolean;
  /** Give the guest an input device. */
  autoattachInputDevice?: boolean;
  /** Give the guest a memory balloon; true when unset. */
  autoattachMemBalloon?: boolean;
  /** Connect a guest without interfaces to the pod network; true when unset. */
  autoattachPodInterface?: boolean;
  /** Give the guest a serial console; true when unset. */
  autoattachSerialConsole?: boolean;
  /** Give the guest a VSOCK device. */
  autoattachVSOCK?: boolean;
  /** Give virtio disks as many queues as there are vCPUs. */
  blockMultiQueue?: boolean;
  /** Let clients pass their USB devices to the guest. */
  clientPassthrough?: ClientPassthroughDevices;
  /** Do not prepare the guest for devices that come later. */
  disableHotplug?: boolean;
  /** Disks, each backed by the volume of its name. */
  disks?: Disk[];
  /** Show metrics of the node to the guest by a virtio channel. */
  downwardMetrics?: DownwardMetrics;
  /** Shared file systems, each backed by the volume of its name. */
  filesystems?: Filesystem[];
  /** GPUs of the node. */
  gpus?: GPU[];
  /** Other devices of the node. */
  hostDevices?: HostDevice[];
  /** Input devices. */
  inputs?: Input[];
  /** Network interfaces, each connected to the network of its name. */
  interfaces?: Interface[];
  /** Log what the guest prints on its serial console; as the cluster says when unset. */
  logSerialConsole?: boolean;
  /** Give virtio interfaces as many queues as there are vCPUs. */
  networkInterfaceMultiqueue?: boolean;
  /** Devices by which the guest tells that it crashed. */
  panicDevices?: PanicDevice[];
  /** Source of randomness. */
  rng?: Rng;
  /** Sound device. */
  sound?: SoundDevice;
  /** Trusted platform module. */
  tpm?: TPMDevice;
  /** Use virtio devices that old guests understand. */
  useVirtioTransitional?: boolean;
  /** Video device. */
  video?: VideoDevice;
  /** Watchdog that acts when the guest hangs. */
  watchdog?: Watchdog;
}

/** Present to let clients pass USB devices. */
export type ClientPassthroughDevices = Record<string, never>;

/** Present to show metrics of the node. */
export type DownwardMetrics = Record<string, never>;

/** Present to give the guest a source of randomness. */
export type Rng = Record<string, never>;
