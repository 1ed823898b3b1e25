import * as fs from "node:fs";
import * as path from "node:path";
import type { Container, Pod } from "@polyvirt/api/k8s";
import { attachBlockDevice, detachBlockDevice, makeDeviceNode, type ContainerMount } from "@polyvirt/host";
import { errors } from "../../errors.ts";
import type { NodePaths } from "../node-paths.ts";
import { credentialsOf } from "../security.ts";
import type { PreparedVolume } from "./prepared-volume.ts";

/** In a pod's own folder: which files it uses as devices, so that a later kubelet can let them go. */
const recordFile = "block-files.json";

/** The device of a claim with volumeMode Block, on this machine. */
export async function prepareBlockVolume(file: string, uid: string, paths: NodePaths): Promise<string> {
  if (process.getuid?.() !== 0) {
    throw errors.KubeletVolumeRefused(`use ${file} as a device: volumeMode Block needs a kubelet that is root`);
  }
  const record = path.join(paths.podRuntime(uid), recordFile);
  fs.writeFileSync(record, JSON.stringify([...new Set([...recordedFiles(record), file])]), { mode: 0o600 });
  return attachBlockDevice(file, uid);
}

/** Lets go of every device of a pod that has ended. */
export async function releaseBlockVolumes(uid: string, paths: NodePaths): Promise<void> {
  for (const file of recordedFiles(path.join(paths.podRuntime(uid), recordFile))) await detachBlockDevice(file, uid);
}

/** The devices that a container asks for, as nodes that its user may open. */
export async function deviceMounts(
  pod: Pod,
  container: Container,
  volumes: ReadonlyMap<string, PreparedVolume>,
  directory: string,
): Promise<ContainerMount[]> {
  const mounts: ContainerMount[] = [];
  for (const { name, devicePath } of container.volumeDevices ?? []) {
    const volume = volumes.get(name);
    if (volume?.kind !== "block") {
      throw errors.KubeletVolumeRefused(`volume ${name} has volumeMode Filesystem: use volumeMounts for it`);
    }
    const { uid, gid } = credentialsOf(pod, container);
    const node = path.join(directory, "devices", name);
    await makeDeviceNode(node, volume.path, { uid, gid: pod.spec.securityContext?.fsGroup ?? gid });
    mounts.push({ source: node, target: devicePath, kind: "file", readOnly: volume.readOnly, recursive: false });
  }
  return mounts;
}

function recordedFiles(record: string): string[] {
  try {
    // Written by prepareBlockVolume.
    return JSON.parse(fs.readFileSync(record, "utf8")) as string[];
  } catch {
    // The pod has none.
    return [];
  }
}
