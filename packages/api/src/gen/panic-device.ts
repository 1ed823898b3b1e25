// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Panic device. */
export interface PanicDevice {
  /** Model. */
  model?: "hyperv" | "isa" | "pvpanic" | (string & {});
}
