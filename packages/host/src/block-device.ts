import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import { errors } from "./errors.ts";

const run = promisify(execFile);
const programPath = { env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } };

/** Who uses which file as a device; on a file system that, like the devices, is gone after a reboot. */
const usersDirectory = "/run/polyvirt/block-devices";

/**
 * The block device that shows a file, for one more user; all users of a file share one device and so see the same data.
 * A file that is a block device already is its own.
 * SAFETY: the file is named by a volume that the administrator or our own provisioner made, never by a pod.
 */
export async function attachBlockDevice(file: string, user: string): Promise<string> {
  const real = fs.realpathSync(file);
  if (fs.statSync(real).isBlockDevice()) return real;
  const users = usersOf(real);
  fs.mkdirSync(users, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(users, user), "");
  try {
    const attached = await attachedDevice(real);
    if (attached !== undefined) return attached;
    const { stdout } = await run("losetup", ["--find", "--show", "--", real], programPath);
    return stdout.trim();
  } catch (cause) {
    fs.rmSync(path.join(users, user), { force: true });
    throw errors.HostUnsupported(`show the file ${real} as a block device: loop devices are needed for it`, { cause });
  }
}

/** The user needs the device no more; with the last one it goes. */
export async function detachBlockDevice(file: string, user: string): Promise<void> {
  if (!fs.existsSync(file)) return;
  const real = fs.realpathSync(file);
  const users = usersOf(real);
  if (!fs.existsSync(path.join(users, user))) return;
  fs.rmSync(path.join(users, user), { force: true });
  if (fs.readdirSync(users).length > 0) return;
  fs.rmdirSync(users);
  const device = await attachedDevice(real);
  if (device !== undefined) await run("losetup", ["--detach", device], programPath);
}

/**
 * Makes a node for a block device that one user and group may open.
 * SAFETY: `node` is below a directory of the caller that no container sees; it replaces what an earlier try has left.
 */
export async function makeDeviceNode(node: string, device: string, owner: { uid: number; gid: number }): Promise<void> {
  const { rdev } = fs.statSync(device);
  // As the kernel packs a device number: 12 bits of major and 8 of minor, the rest of the minor above.
  const major = (rdev >> 8) & 0xfff;
  const minor = (rdev & 0xff) | ((rdev >> 12) & 0xfff00);
  fs.mkdirSync(path.dirname(node), { recursive: true, mode: 0o700 });
  fs.rmSync(node, { force: true });
  await run("mknod", ["-m", "0660", node, "b", String(major), String(minor)], programPath);
  fs.lchownSync(node, owner.uid, owner.gid);
}

async function attachedDevice(file: string): Promise<string | undefined> {
  const { stdout } = await run("losetup", ["--associated", file, "--noheadings", "--output", "NAME"], programPath);
  const name = stdout.trim().split("\n")[0] ?? "";
  return name === "" ? undefined : name;
}

function usersOf(file: string): string {
  const { dev, ino } = fs.statSync(file);
  return path.join(usersDirectory, `${dev}-${ino}`);
}
