// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Video device. */
export interface VideoDevice {
  /** Type. */
  type?: "virtio" | "vga" | "bochs" | "cirrus" | "ramfb" | (string & {});
}
