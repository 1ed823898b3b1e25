import * as fs from "node:fs";
import * as path from "node:path";
import type { HostPathVolumeSource } from "@polyvirt/api/k8s";
import { hasCode } from "@polyvirt/core";
import { createFileBeneath, makeDirectoryBeneath, openBeneath, openTrustedDirectory } from "@polyvirt/host";
import { errors } from "../../errors.ts";
import type { NodePaths } from "../node-paths.ts";

/** A place below a folder of the node; pods can write there, so it is always opened without following symlinks. */
export interface OwnPlace {
  readonly root: string;
  readonly relative: string;
}

export interface HostPathSource {
  readonly path: string;
  readonly kind: "directory" | "file";
  /** Only for what is the node's own. */
  readonly own?: OwnPlace;
}

const kubeletRoot = "/var/lib/kubelet";

const typeChecks: Readonly<Record<string, (stat: fs.Stats) => boolean>> = {
  Directory: (stat) => stat.isDirectory(),
  DirectoryOrCreate: (stat) => stat.isDirectory(),
  File: (stat) => stat.isFile(),
  FileOrCreate: (stat) => stat.isFile(),
  Socket: (stat) => stat.isSocket(),
  CharDevice: (stat) => stat.isCharacterDevice(),
  BlockDevice: (stat) => stat.isBlockDevice(),
};

/**
 * Which file of this machine a hostPath means. The node is a folder: what a pod creates stays below the folder, and
 * /var/lib/kubelet is the node's own; everything else is the machine's.
 */
export function resolveHostPath(source: HostPathVolumeSource, paths: NodePaths): HostPathSource {
  const wanted = path.posix.normalize(source.path);
  if (!wanted.startsWith("/") || source.path.split("/").includes("..")) {
    throw errors.KubeletVolumeRefused(`hostPath ${source.path} must be absolute and without ".."`);
  }
  const type = source.type ?? "";
  const check = typeChecks[type];
  if (type !== "" && check === undefined) throw errors.KubeletVolumeRefused(`hostPath type ${type} is unknown`);
  const found = findPlace(wanted, type, paths);
  if (check !== undefined && !check(found.stat)) {
    throw errors.KubeletVolumeRefused(`hostPath type check failed: ${wanted} is not of type ${type}`);
  }
  const kind = found.stat.isDirectory() ? "directory" : "file";
  return { path: found.path, kind, ...(found.own === undefined ? {} : { own: found.own }) };
}

interface Found {
  readonly path: string;
  readonly stat: fs.Stats;
  readonly own?: OwnPlace;
}

function findPlace(wanted: string, type: string, paths: NodePaths): Found {
  const inKubelet = wanted === kubeletRoot || wanted.startsWith(`${kubeletRoot}/`);
  const own: OwnPlace = inKubelet
    ? { root: paths.kubelet, relative: wanted.slice(kubeletRoot.length + 1) }
    : { root: paths.host, relative: wanted.slice(1) };
  const found = statOwn(own, wanted);
  if (found !== undefined) return found;
  if (!inKubelet && fs.existsSync(wanted)) {
    // The administrator's own paths may hold symlinks; what is mounted is what they lead to now.
    const real = fs.realpathSync(wanted);
    return { path: real, stat: fs.statSync(real) };
  }
  create(own, inKubelet && type === "" ? "DirectoryOrCreate" : type, wanted);
  const created = statOwn(own, wanted);
  if (created === undefined) throw errors.KubeletVolumeRefused(`hostPath type check failed: ${wanted} does not exist`);
  return created;
}

function statOwn(own: OwnPlace, wanted: string): Found | undefined {
  const root = openTrustedDirectory(own.root);
  try {
    const opened = openBeneath(root, own.relative === "" ? "." : own.relative);
    try {
      return { path: path.join(own.root, own.relative), stat: fs.fstatSync(opened.fd), own };
    } finally {
      opened.close();
    }
  } catch (error) {
    if (hasCode(error, "HostPathMissing")) return undefined;
    throw refusal(wanted, error);
  } finally {
    root.close();
  }
}

function create(own: OwnPlace, type: string, wanted: string): void {
  const root = openTrustedDirectory(own.root);
  try {
    if (type === "DirectoryOrCreate") makeDirectoryBeneath(root, own.relative).close();
    if (type === "FileOrCreate") {
      makeDirectoryBeneath(root, path.dirname(own.relative)).close();
      createFileBeneath(root, own.relative, "");
    }
  } catch (error) {
    throw refusal(wanted, error);
  } finally {
    root.close();
  }
}

function refusal(wanted: string, error: unknown): unknown {
  if (!hasCode(error, "HostPathUnsafe")) return error;
  return errors.KubeletVolumeRefused(`hostPath ${wanted}: a pod has put a symlink on the way to it`, { cause: error });
}
