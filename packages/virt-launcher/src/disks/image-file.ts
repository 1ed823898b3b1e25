import * as fs from "node:fs";
import { openBeneath, openFileForReading, openTrustedDirectory } from "@polyvirt/host";
import { errors } from "../errors.ts";
import { imageHeaderBytes, readImageHeader } from "./image-header.ts";

/** An image that may be given to QEMU: where it is, what it is, how large the disk in it is. */
export interface CheckedImage {
  readonly path: string;
  readonly format: "raw" | "qcow2";
  readonly virtualBytes: bigint;
}

/**
 * Checks a file of an image volume. SAFETY: the content is somebody else's, so no symlink is followed and only a regular
 * file is taken; image volumes are mounted read-only, so what was checked here is what QEMU will open.
 */
export function checkImage(mount: string, relative: string, field: string): CheckedImage {
  const root = openTrustedDirectory(mount);
  try {
    const fd = openFileForReading(root, relative);
    try {
      const header = Buffer.alloc(imageHeaderBytes);
      const length = fs.readSync(fd, header, 0, header.length, 0);
      const found = readImageHeader(header.subarray(0, length));
      const path = `${mount}/${relative}`;
      if (found.format === "refused") {
        throw errors.LauncherImageRefused(`use ${path} for ${field}: ${found.why}`, { fields: { path, field } });
      }
      const virtualBytes = found.format === "qcow2" ? found.virtualBytes : BigInt(fs.fstatSync(fd).size);
      return { path, format: found.format, virtualBytes };
    } finally {
      fs.closeSync(fd);
    }
  } finally {
    root.close();
  }
}

/** A regular file of an image volume, by the path that the user gave: a kernel, say. Refused like the files of disks. */
export function findFile(mount: string, userPath: string): string {
  const relative = userPath.replace(/^\/+/, "");
  const root = openTrustedDirectory(mount);
  try {
    openBeneath(root, relative, { expect: "file" }).close();
    return `${mount}/${relative}`;
  } finally {
    root.close();
  }
}

/** The one file in `disk/` of a container disk. */
export function onlyFileIn(mount: string, directory: string, field: string): string {
  const root = openTrustedDirectory(mount);
  try {
    const opened = openBeneath(root, directory, { expect: "directory" });
    try {
      // Hidden files are what image builders leave behind.
      const names = fs.readdirSync(opened.path).filter((name) => !name.startsWith("."));
      const [only] = names;
      if (only === undefined || names.length > 1) {
        const found = names.length === 0 ? "none" : names.slice(0, 5).join(", ");
        throw errors.LauncherImageRefused(
          `find the disk of ${field}: /${directory} of the image must hold one file, it holds ${found}; name it in path`,
          { fields: { field } },
        );
      }
      return `${directory}/${only}`;
    } finally {
      opened.close();
    }
  } finally {
    root.close();
  }
}
