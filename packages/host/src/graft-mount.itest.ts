import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { graftFile, openProcessRoot, processMountPoints, ungraftFile } from "./graft-mount.ts";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";
import { openBeneath } from "./safe-path.ts";

const isRoot = process.getuid?.() === 0;
const children: ChildProcess[] = [];
let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "pv-graft-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A process with a file system in memory of its own at `place`, filled by the script. */
async function start(script: string): Promise<ProcessIdentity> {
  const place = join(folder, "place");
  fs.mkdirSync(place, { recursive: true });
  const steps = `mount -t tmpfs tmpfs "$1" && cd "$1" && ${script}\necho ready; exec sleep 60`;
  const child = spawn("unshare", ["--mount", "sh", "-c", steps, "sh", place], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, "data");
  const identity = identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error("it did not start");
  return identity;
}

const seen = (identity: ProcessIdentity, name: string) => {
  using root = openProcessRoot(identity);
  return openBeneath(root, `${folder.slice(1)}/place/${name}`);
};
const read = ({ pid }: ProcessIdentity, name: string) =>
  fs.readFileSync(`/proc/${pid}/root${folder}/place/${name}`, "utf8");

describe.runIf(isRoot)("graftFile", () => {
  it("shows a file of one mount namespace in another, until it is taken away", async () => {
    const source = await start("printf data >disk.img");
    const target = await start("mkdir disks && : >disks/volume.img");
    const before = { directory: process.cwd(), namespace: fs.readlinkSync("/proc/thread-self/ns/mnt") };
    {
      using file = seen(source, "disk.img");
      using place = seen(target, "disks/volume.img");
      graftFile({ process: source, file }, { process: target, file: place });
    }
    expect(read(target, "disks/volume.img")).toBe("data");
    fs.appendFileSync(`/proc/${target.pid}/root${folder}/place/disks/volume.img`, " of the guest");
    expect(read(source, "disk.img")).toBe("data of the guest");
    expect(processMountPoints(target)).toContain(`${folder}/place/disks/volume.img`);
    // It is there alone: neither this process nor a third one has it.
    expect(processMountPoints(source)).not.toContain(`${folder}/place/disks/volume.img`);
    expect(fs.existsSync(`${folder}/place/disks`)).toBe(false);

    using directory = seen(target, "disks");
    ungraftFile(target, directory, "volume.img");
    expect(read(target, "disks/volume.img")).toBe("");
    expect(read(source, "disk.img")).toBe("data of the guest");
    expect({ directory: process.cwd(), namespace: fs.readlinkSync("/proc/thread-self/ns/mnt") }).toEqual(before);
  });

  it("refuses to take away what is not mounted, and names that lead elsewhere, and comes back", async () => {
    const target = await start("mkdir disks && : >disks/volume.img");
    const namespace = fs.readlinkSync("/proc/thread-self/ns/mnt");
    using directory = seen(target, "disks");
    expect(() => ungraftFile(target, directory, "volume.img")).toThrow(/errno 22/);
    expect(() => ungraftFile(target, directory, "../disks")).toThrow(/must not contain/);
    expect(fs.readlinkSync("/proc/thread-self/ns/mnt")).toBe(namespace);
  });

  it("does nothing for a process that has ended", async () => {
    const source = await start("printf data >disk.img");
    const target = await start(": >volume.img");
    using file = seen(source, "disk.img");
    using place = seen(target, "volume.img");
    children[0]?.kill("SIGKILL");
    await once(children[0] ?? new EventEmitter(), "exit");
    expect(() => graftFile({ process: source, file }, { process: target, file: place })).toThrow(/ENOENT|has ended/);
    expect(read(target, "volume.img")).toBe("");
  });
});
