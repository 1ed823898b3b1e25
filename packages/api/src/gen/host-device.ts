// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { FeatureState } from "./features.ts";

/** A device of the node that the guest has to itself. */
export interface HostDevice {
  /** Name of the device in this machine. */
  name: string;
  /** Resource claim of this machine that it comes from. */
  claimName?: string;
  /** Resource that a device plug-in offers it as. */
  deviceName?: string;
  /** Request of the claim that it comes from. */
  requestName?: string;
  /** Name that cloud-init tells the guest. */
  tag?: string;
}

/** A GPU of the node, whole or a part of it. */
export interface GPU {
  /** Name of the GPU in this machine. */
  name: string;
  /** Resource claim of this machine that it comes from. */
  claimName?: string;
  /** Resource that a device plug-in offers it as. */
  deviceName?: string;
  /** Request of the claim that it comes from. */
  requestName?: string;
  /** Name that cloud-init tells the guest. */
  tag?: string;
  /** Options of a virtual GPU. */
  virtualGPUOptions?: VGPUOptions;
}

/** Options of a virtual GPU. */
export interface VGPUOptions {
  /** Whether it shows a picture. */
  display?: VGPUDisplayOptions;
}

/** Whether a virtual GPU shows a picture. */
export interface VGPUDisplayOptions {
  /** It does; true when unset. */
  enabled?: boolean;
  /** Show the picture also before the guest's driver is loaded. */
  ramFB?: FeatureState;
}
