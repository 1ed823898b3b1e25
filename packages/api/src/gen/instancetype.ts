// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Instancetype matcher. */
export interface InstancetypeMatcher {
  /** Name. */
  name?: string;
  /** Infer from volume. */
  inferFromVolume?: string;
  /** Infer from volume failure policy. */
  inferFromVolumeFailurePolicy?: string;
  /** Kind. */
  kind?: string;
  /** Revision name. */
  revisionName?: string;
}

/** Preference matcher. */
export interface PreferenceMatcher {
  /** Name. */
  name?: string;
  /** Infer from volume. */
  inferFromVolume?: string;
  /** Infer from volume failure policy. */
  inferFromVolumeFailurePolicy?: string;
  /** Kind. */
  kind?: string;
  /** Revision name. */
  revisionName?: string;
}

/** Instancetype status ref. */
export interface InstancetypeStatusRef {
  /** Name. */
  name?: string;
  /** Controller revision ref. */
  controllerRevisionRef?: ControllerRevisionRef;
  /** Infer from volume. */
  inferFromVolume?: string;
  /** Infer from volume failure policy. */
  inferFromVolumeFailurePolicy?: string;
  /** Kind. */
  kind?: string;
}

/** Controller revision ref. */
export interface ControllerRevisionRef {
  /** Name. */
  name?: string;
}
