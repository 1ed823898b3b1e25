// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A device by which a guest tells that it crashed. */
export interface PanicDevice {
  /** Its model; the architecture's usual one when unset. */
  model?: "hyperv" | "isa" | "pvpanic" | (string & {});
}
