// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { FeatureState } from "./features.ts";

/** Host device. */
export interface HostDevice {
  /** Name. */
  name: string;
  /** Claim name. */
  claimName?: string;
  /** Device name. */
  deviceName?: string;
  /** Request name. */
  requestName?: string;
  /** Tag. */
  tag?: string;
}

/** GPU. */
export interface GPU {
  /** Name. */
  name: string;
  /** Claim name. */
  claimName?: string;
  /** Device name. */
  deviceName?: string;
  /** Request name. */
  requestName?: string;
  /** Tag. */
  tag?: string;
  /** Virtual GPU options. */
  virtualGPUOptions?: VGPUOptions;
}

/** VGPU options. */
export interface VGPUOptions {
  /** Display. */
  display?: VGPUDisplayOptions;
}

/** VGPU display options. */
export interface VGPUDisplayOptions {
  /** Enabled. */
  enabled?: boolean;
  /** Ram FB. */
  ramFB?: FeatureState;
}
