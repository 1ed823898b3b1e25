// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Input. */
export interface Input {
  /** Name. */
  name: string;
  /** Bus. */
  bus?: "usb" | "virtio" | (string & {});
  /** Type. */
  type: "tablet" | "keyboard" | (string & {});
}
