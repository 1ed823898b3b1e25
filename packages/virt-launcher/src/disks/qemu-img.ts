import { execFile } from "node:child_process";
import { errors } from "../errors.ts";
import type { CheckedImage } from "./image-file.ts";

const timeoutMs = 30_000;

/** Makes images with QEMU's own tool. It is never given an image of somebody else to open. */
export interface ImageMaker {
  /** An empty layer over an image, in which the guest's writes are kept. */
  makeOverlay(path: string, backing: CheckedImage): Promise<void>;
  makeEmpty(path: string, bytes: bigint): Promise<void>;
}

export const qemuImg: ImageMaker = {
  makeOverlay: (path, backing) => {
    // -u: the backing image is not opened; its format and size are known already.
    const over = ["-u", "-b", backing.path, "-F", backing.format];
    return run(["create", "-q", "-f", "qcow2", ...over, path, String(roundToSector(backing.virtualBytes))]);
  },
  makeEmpty: (path, bytes) => run(["create", "-q", "-f", "qcow2", path, String(roundToSector(bytes))]),
};

/** A raw file may end in the middle of a sector; the disk does not. */
function roundToSector(bytes: bigint): bigint {
  return ((bytes + 511n) / 512n) * 512n;
}

function run(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("qemu-img", args, { timeout: timeoutMs }, (error, _stdout, stderr) => {
      if (error === null) resolve();
      else reject(errors.LauncherDiskFailed(`run qemu-img ${args.join(" ")}: ${stderr.trim()}`, { cause: error }));
    });
  });
}
