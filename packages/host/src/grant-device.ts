import * as fs from "node:fs";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { makeDirectoryBeneath, openBeneath, openTrustedDirectory, type OpenedPath } from "./safe-path.ts";

interface DeviceNode {
  /** Below /dev, such as `net/tun`. */
  readonly name: string;
  readonly major: number;
  readonly minor: number;
}

const S_IFCHR = 0o020000;

export const tunDevice: DeviceNode = { name: "net/tun", major: 10, minor: 200 };

/**
 * Lets the user of a process open a character device in the process's own /dev: makes the node if it is missing and gives
 * it to the user.
 *
 * SAFETY: the process's root is entered through its id, and its identity is checked afterwards. Everything below is opened
 * component by component without following links, because the process may have put any there; the node that gets another
 * owner is the one that was opened and found to be the device. The machine's own node is never changed.
 */
export function grantDevice(identity: ProcessIdentity, device: DeviceNode, owner: { uid: number; gid: number }): void {
  const root = openTrustedDirectory(`/proc/${identity.pid}/root`);
  try {
    if (!isAlive(identity)) throw errors.HostProcessGone(`grant ${device.name}: process ${identity.pid} has ended`);
    const node = openNode(root, device);
    try {
      giveNode(node, device, owner);
    } finally {
      node.close();
    }
  } finally {
    root.close();
  }
}

function openNode(root: OpenedPath, device: DeviceNode): OpenedPath {
  const parts = device.name.split("/");
  const name = parts.pop() ?? device.name;
  const directory = makeDirectoryBeneath(root, ["dev", ...parts].join("/"));
  try {
    const number = makeDeviceNumber(device);
    // An entry that is there already is looked at below like a new one.
    libc().mknod(directory.child(name), S_IFCHR | 0o600, number);
    return openBeneath(directory, name, { expect: "device" });
  } finally {
    directory.close();
  }
}

function giveNode(node: OpenedPath, device: DeviceNode, { uid, gid }: { uid: number; gid: number }): void {
  const found = fs.fstatSync(node.fd);
  if (!found.isCharacterDevice() || found.rdev !== makeDeviceNumber(device)) {
    throw errors.HostPathUnsafe(`grant ${device.name}: the process has something else there`);
  }
  if (found.uid === uid || (found.mode & 0o006) === 0o006) return;
  const machines = fs.statSync(`/dev/${device.name}`, { throwIfNoEntry: false });
  if (machines?.dev === found.dev && machines.ino === found.ino) {
    throw errors.HostUnsupported(
      `grant ${device.name} to user ${uid}: the process has the machine's own node, which only root may open`,
    );
  }
  fs.chownSync(node.path, uid, gid);
}

/** As glibc's makedev, for numbers of the size that devices have in practice. */
function makeDeviceNumber({ major, minor }: DeviceNode): number {
  return (major << 8) | minor;
}
