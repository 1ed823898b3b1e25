// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A sound device. Nobody hears it. */
export interface SoundDevice {
  /** Name of the device. */
  name: string;
  /** Its model; ich9 when unset. */
  model?: "ich9" | "ac97" | (string & {});
}
