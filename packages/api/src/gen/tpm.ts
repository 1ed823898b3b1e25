// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A trusted platform module, emulated on the node. */
export interface TPMDevice {
  /** The guest has it; true when unset. */
  enabled?: boolean;
  /** Its content outlives the guest. */
  persistent?: boolean;
}
