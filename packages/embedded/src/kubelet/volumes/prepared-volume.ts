import type { OwnPlace } from "./host-path.ts";

/** Where a volume is on this machine. */
export interface PreparedVolume {
  readonly path: string;
  /** `block`: the path is a device, for volumeDevices. */
  readonly kind: "directory" | "file" | "block";
  readonly readOnly: boolean;
  readonly recursive: boolean;
  /** Where it is below a folder that pods can write to: what is mounted is opened there without following symlinks. */
  readonly own?: OwnPlace;
}
