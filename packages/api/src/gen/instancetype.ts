// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** The instance type of a machine. */
export interface InstancetypeMatcher {
  /** Its name. */
  name?: string;
  /** Volume whose labels name it. */
  inferFromVolume?: string;
  /** What happens when the volume does not name one: Reject or Ignore. */
  inferFromVolumeFailurePolicy?: string;
  /** VirtualMachineInstancetype or VirtualMachineClusterInstancetype; the latter when unset. */
  kind?: string;
  /** ControllerRevision that the values are taken from. */
  revisionName?: string;
}

/** The preference of a machine. */
export interface PreferenceMatcher {
  /** Its name. */
  name?: string;
  /** Volume whose labels name it. */
  inferFromVolume?: string;
  /** What happens when the volume does not name one: Reject or Ignore. */
  inferFromVolumeFailurePolicy?: string;
  /** VirtualMachinePreference or VirtualMachineClusterPreference; the latter when unset. */
  kind?: string;
  /** ControllerRevision that the values are taken from. */
  revisionName?: string;
}

/** The instance type or preference that is in effect. */
export interface InstancetypeStatusRef {
  /** Its name. */
  name?: string;
  /** Copy that the values are taken from. */
  controllerRevisionRef?: ControllerRevisionRef;
  /** Volume whose labels named it. */
  inferFromVolume?: string;
  /** What happens when the volume does not name one. */
  inferFromVolumeFailurePolicy?: string;
  /** Its kind. */
  kind?: string;
}

/** A ControllerRevision in the same namespace. */
export interface ControllerRevisionRef {
  /** Its name. */
  name?: string;
}
