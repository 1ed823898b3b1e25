import * as fs from "node:fs";
import { hasCode } from "@polyvirt/core";
import { errors } from "./errors.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { openBeneath, openTrustedDirectory, type OpenedPath } from "./safe-path.ts";

/**
 * Gives a device that a process was given to the user that it runs as: runtimes leave it root's. Nothing happens when the
 * process has no such device. `name` is one below /dev, such as `kvm`.
 *
 * SAFETY: as in grantDevice, nothing that the process could have put there is followed; what gets another owner is the
 * opened node, after it was found to be the same device as the machine's, and never the machine's own node.
 */
export function claimDevice(identity: ProcessIdentity, name: string, owner: { uid: number; gid: number }): void {
  const root = openTrustedDirectory(`/proc/${identity.pid}/root`);
  try {
    if (!isAlive(identity)) throw errors.HostProcessGone(`claim ${name}: process ${identity.pid} has ended`);
    const node = openDevice(root, name);
    if (node === undefined) return;
    try {
      giveNode(node, name, owner);
    } finally {
      node.close();
    }
  } finally {
    root.close();
  }
}

function openDevice(root: OpenedPath, name: string): OpenedPath | undefined {
  try {
    return openBeneath(root, `dev/${name}`, { expect: "device" });
  } catch (error) {
    if (hasCode(error, "HostPathMissing")) return undefined;
    throw error;
  }
}

function giveNode(node: OpenedPath, name: string, { uid, gid }: { uid: number; gid: number }): void {
  const found = fs.fstatSync(node.fd);
  const own = fs.statSync(`/dev/${name}`, { throwIfNoEntry: false });
  if (!found.isCharacterDevice() || found.rdev !== own?.rdev) {
    throw errors.HostPathUnsafe(`claim ${name} for user ${uid}: the process has something else there`);
  }
  // Whoever shares the machine's node lives with the machine's rights.
  if (found.uid === uid || (own.dev === found.dev && own.ino === found.ino)) return;
  fs.chownSync(node.path, uid, gid);
}
