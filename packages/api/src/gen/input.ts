// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** An input device. */
export interface Input {
  /** Name of the device. */
  name: string;
  /** Bus that it is on; usb when unset. */
  bus?: "usb" | "virtio" | (string & {});
  /** What it is. */
  type: "tablet" | "keyboard" | (string & {});
}
