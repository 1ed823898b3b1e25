import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VolumeStatus } from "@polyvirt/api";
import { identifyProcess } from "@polyvirt/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLauncherDirectory } from "../launcher/launcher-directory.ts";
import { podVolume } from "../testing/launcher-double.ts";
import { createVolumeMounts, type HotplugLauncher } from "./volume-mounts.ts";

const isRoot = process.getuid?.() === 0;
const children: ChildProcess[] = [];
let root: string;
beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "pv-volumes-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  fs.rmSync(root, { recursive: true, force: true });
});

/** A process with mounts of its own, over which the folders of a pod lie. */
async function container(mounts: Readonly<Record<string, string>>): Promise<number> {
  const places = Object.entries(mounts).flat();
  const layer = fs.mkdtempSync(join(root, "layer-"));
  // What is made below / must not stay on the machine: each has a root of its own.
  const script = `
    mount -t tmpfs tmpfs ${layer}
    mkdir ${layer}/upper ${layer}/work ${layer}/root
    mount -t overlay overlay -o lowerdir=/,upperdir=${layer}/upper,workdir=${layer}/work ${layer}/root
    mount -t tmpfs tmpfs ${layer}/root/run
    mount --rbind /proc ${layer}/root/proc
    while [ $# -gt 0 ]; do mkdir -p "${layer}/root$2"; mount --bind "$1" "${layer}/root$2"; shift 2; done
    mkdir ${layer}/root/old
    cd ${layer}/root
    pivot_root . old
    umount -l /old
    echo ready
    exec sleep 60`;
  const child = spawn("unshare", ["--mount", "sh", "-ec", script, "sh", ...places], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, "data");
  return child.pid ?? 0;
}

describe.runIf(isRoot)("hotplugged volumes in a launcher", () => {
  const folder = "/run/kubevirt/hotplug-disks";
  const status: VolumeStatus = {
    name: "data",
    target: "",
    phase: "AttachedToNode",
    hotplugVolume: { attachPodName: "hp", attachPodUID: "holder" },
    persistentVolumeClaimInfo: { capacity: { storage: "64Mi" }, volumeMode: "Filesystem" },
  };

  /** A launcher and the pod that holds its claim. */
  async function pods(): Promise<{ launcher: HotplugLauncher; claim: string; seen: (name: string) => string }> {
    const claim = join(root, "claim");
    fs.mkdirSync(claim);
    await container({ [podVolume(root, "hotplug-disks", "holder")]: "/path", [claim]: "/volumes/data" });
    const pid = await container({ [podVolume(root, "hotplug-disks", "launcher")]: folder });
    const identity = identifyProcess(pid);
    if (identity === undefined) throw new Error("it did not start");
    return {
      launcher: { podUid: "launcher", process: { identity, uid: 107, gid: 107 } },
      claim,
      seen: (name) => `/proc/${pid}/root${folder}/${name}`,
    };
  }
  const mounts = () => createVolumeMounts(createLauncherDirectory(root));

  it("are shown, found again by another virt-handler, and taken away", async () => {
    const { launcher, claim, seen } = await pods();
    expect(mounts().mounted(launcher)).toEqual(new Set());
    mounts().mount(launcher, status);
    expect(mounts().mounted(launcher)).toEqual(new Set(["data"]));
    const made = fs.statSync(join(claim, "disk.img"));
    expect({ size: made.size, uid: made.uid }).toEqual({ size: 60 * 1024 ** 2, uid: 107 });
    expect(fs.statSync(seen("data.img")).ino).toBe(made.ino);
    mounts().unmount(launcher, "data");
    expect(mounts().mounted(launcher)).toEqual(new Set());
    expect(fs.existsSync(seen("data.img"))).toBe(false);
    expect(fs.existsSync(join(claim, "disk.img"))).toBe(true);
  });

  it("are no way to other files, on either side", async () => {
    const { launcher, claim } = await pods();
    fs.symlinkSync("/etc/passwd", join(claim, "disk.img"));
    expect(() => mounts().mount(launcher, status)).toThrow(/symlink/);
    fs.rmSync(join(claim, "disk.img"));
    fs.symlinkSync("/etc/passwd", join(podVolume(root, "hotplug-disks", "launcher"), "data.img"));
    expect(() => mounts().mount(launcher, status)).toThrow(/symlink/);
    expect(mounts().mounted(launcher)).toEqual(new Set());
  });

  it("come from the pod that holds them, not from one that looks like it", async () => {
    const { launcher } = await pods();
    const secret = join(root, "secret");
    fs.mkdirSync(secret);
    await container({ [podVolume(root, "private", "launcher")]: "/path", [secret]: "/volumes/data" });
    children[0]?.kill("SIGKILL");
    if (children[0] !== undefined) await once(children[0], "exit");
    expect(() => mounts().mount(launcher, status)).toThrow(/attachment pod holder: it does not run on this node/);
    expect(fs.readdirSync(secret)).toEqual([]);
  });

  it("need a launcher pod that has a place for them", async () => {
    podVolume(root, "hotplug-disks", "old");
    const identity = identifyProcess(await container({ [podVolume(root, "public", "old")]: "/run/kubevirt" }));
    const launcher = { podUid: "old", process: { identity: identity ?? fail(), uid: 107, gid: 107 } };
    expect(() => mounts().mounted(launcher)).toThrow(/restart the VMI/);
  });
});

function fail(): never {
  throw new Error("it did not start");
}
