// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** TPM device. */
export interface TPMDevice {
  /** Enabled. */
  enabled?: boolean;
  /** Persistent. */
  persistent?: boolean;
}
