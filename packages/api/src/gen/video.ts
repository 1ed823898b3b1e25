// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A video device. */
export interface VideoDevice {
  /** Its type; the architecture's usual one when unset. */
  type?: "virtio" | "vga" | "bochs" | "cirrus" | "ramfb" | (string & {});
}
