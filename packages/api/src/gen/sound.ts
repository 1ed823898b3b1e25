// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Sound device. */
export interface SoundDevice {
  /** Name. */
  name: string;
  /** Model. */
  model?: "ich9" | "ac97" | (string & {});
}
