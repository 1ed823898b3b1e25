import type { VirtualMachineInstance } from "@polyvirt/api";
import type { LauncherPaths } from "../launcher-paths.ts";
import type { FileGuard } from "./file-guard.ts";
import type { ImageMaker } from "./qemu-img.ts";

export type Volume = NonNullable<VirtualMachineInstance["spec"]["volumes"]>[number];

/** What is known while one volume is made ready. */
export interface VolumeRequest {
  readonly vmi: VirtualMachineInstance;
  readonly volume: Volume;
  /** Where it stands in the VMI, for messages. */
  readonly field: string;
  readonly paths: LauncherPaths;
  readonly images: ImageMaker;
  /** For files that others may exchange. */
  readonly guard: FileGuard;
}
