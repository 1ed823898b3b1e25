import * as fs from "node:fs";
import * as path from "node:path";
import type { HostPathVolumeSource } from "@polyvirt/api/k8s";
import { errors } from "../../errors.ts";
import type { NodePaths } from "../node-paths.ts";

export interface HostPathSource {
  readonly path: string;
  readonly kind: "directory" | "file";
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
  const found = candidates(wanted, paths).find((candidate) => fs.existsSync(candidate));
  const target = found ?? create(wanted, type, paths);
  // The administrator's own paths may hold symlinks; what is mounted is what they lead to now.
  const real = fs.realpathSync(target);
  const stat = fs.statSync(real);
  const check = typeChecks[type];
  if (type !== "" && check === undefined) throw errors.KubeletVolumeRefused(`hostPath type ${type} is unknown`);
  if (check !== undefined && !check(stat)) {
    throw errors.KubeletVolumeRefused(`hostPath type check failed: ${wanted} is not of type ${type}`);
  }
  return { path: real, kind: stat.isDirectory() ? "directory" : "file" };
}

function candidates(wanted: string, paths: NodePaths): string[] {
  if (wanted === kubeletRoot || wanted.startsWith(`${kubeletRoot}/`)) {
    return [path.join(paths.kubelet, wanted.slice(kubeletRoot.length))];
  }
  return [path.join(paths.host, wanted), wanted];
}

function create(wanted: string, type: string, paths: NodePaths): string {
  const [target = wanted] = candidates(wanted, paths);
  if (type === "DirectoryOrCreate") {
    fs.mkdirSync(target, { recursive: true, mode: 0o755 });
    return target;
  }
  if (type === "FileOrCreate") {
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.closeSync(fs.openSync(target, "a", 0o644));
    return target;
  }
  if (type === "" && target.startsWith(paths.kubelet)) {
    fs.mkdirSync(target, { recursive: true, mode: 0o755 });
    return target;
  }
  throw errors.KubeletVolumeRefused(`hostPath type check failed: ${wanted} does not exist`);
}
