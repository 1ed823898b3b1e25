import * as fs from "node:fs";
import * as path from "node:path";
import { makeDirectoryBeneath, openBeneath, openTrustedDirectory, type OpenedPath } from "@polyvirt/host";
import { hasCode } from "@polyvirt/core";
import { errors } from "../../errors.ts";
import type { OwnPlace } from "./host-path.ts";

export interface SubPathSource {
  readonly path: string;
  readonly kind: "directory" | "file";
  /** What has to be mounted, whatever the path leads to by then. */
  readonly inode: string;
  /** Keeps the inode from being reused until the container has it mounted. */
  release(): void;
}

/**
 * A part of a volume, for one container. The pod can write to the volume, so symlinks in it are resolved here and must
 * stay inside; then the result is opened without following any, and mounted only if it still is the same file.
 */
export function resolveSubPath(volumePath: string, subPath: string, volumeName: string): SubPathSource {
  const parts = subPath.split("/").filter((part) => part !== "" && part !== ".");
  if (subPath.startsWith("/") || parts.includes("..")) {
    throw errors.KubeletVolumeRefused(`subPath ${subPath} of volume ${volumeName} must be relative and without ".."`);
  }
  const base = fs.realpathSync(volumePath);
  const root = openTrustedDirectory(base);
  try {
    return sourceOf(open(root, base, parts.join("/"), volumeName));
  } finally {
    root.close();
  }
}

/** A place below a folder of the node, with whatever is there now. */
export function openOwnPlace({ root, relative }: OwnPlace, volumeName: string): SubPathSource {
  const trusted = openTrustedDirectory(root);
  try {
    return sourceOf(openBeneath(trusted, relative === "" ? "." : relative));
  } catch (error) {
    if (hasCode(error, "HostPathUnsafe")) throw escapes(relative, volumeName, error);
    throw error;
  } finally {
    trusted.close();
  }
}

function sourceOf(opened: OpenedPath): SubPathSource {
  const stat = fs.fstatSync(opened.fd, { bigint: true });
  return {
    path: fs.readlinkSync(opened.path),
    kind: opened.kind === "directory" ? "directory" : "file",
    inode: `${stat.dev}:${stat.ino}`,
    release: () => opened.close(),
  };
}

function open(root: OpenedPath, base: string, subPath: string, volumeName: string): OpenedPath {
  const resolved = realPathOf(path.join(base, subPath));
  if (resolved === undefined) {
    try {
      // As open as the volume itself, or nobody but root could use it.
      return makeDirectoryBeneath(root, subPath, { mode: fs.statSync(base).mode & 0o7777 });
    } catch (error) {
      if (hasCode(error, "HostPathUnsafe")) throw escapes(subPath, volumeName, error);
      throw error;
    }
  }
  const relative = path.relative(base, resolved);
  if (relative === ".." || relative.startsWith("../") || path.isAbsolute(relative)) throw escapes(subPath, volumeName);
  return openBeneath(root, relative === "" ? "." : relative);
}

function realPathOf(target: string): string | undefined {
  try {
    return fs.realpathSync(target);
  } catch {
    // Missing, or a link that leads nowhere: creating it decides.
    return undefined;
  }
}

function escapes(subPath: string, volumeName: string, cause?: unknown): Error {
  return errors.KubeletVolumeRefused(`failed to prepare subPath ${subPath}: it leads out of volume ${volumeName}`, {
    cause,
  });
}
