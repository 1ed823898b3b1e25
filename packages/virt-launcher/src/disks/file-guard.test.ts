import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileGuard } from "./file-guard.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "guard-"));
  await writeFile(join(folder, "disk.img"), "disk");
});
afterEach(() => rm(folder, { recursive: true }));

describe("FileGuard", () => {
  it("is content with a file that stays, also when its content changes", async () => {
    const guard = new FileGuard();
    expect(guard.hold(folder, "disk.img", "f")).toBe(join(folder, "disk.img"));
    await writeFile(join(folder, "disk.img"), "the guest wrote");
    expect(() => guard.verify()).not.toThrow();
  });

  it.each([
    ["another file", (path: string) => writeFile(path, "other")],
    ["a link", (path: string) => symlink("/etc/passwd", path)],
    ["nothing", async () => {}],
  ])("notices that %s took its place", async (_name, replace) => {
    const guard = new FileGuard();
    guard.hold(folder, "disk.img", "spec.volumes[0]");
    await rename(join(folder, "disk.img"), join(folder, "moved.img"));
    await replace(join(folder, "disk.img"));
    expect(() => guard.verify()).toThrow("for spec.volumes[0]: it was exchanged during the start");
  });

  it("takes no link, no folder and no path", async () => {
    await symlink(join(folder, "disk.img"), join(folder, "link.img"));
    await mkdir(join(folder, "sub"));
    await writeFile(join(folder, "sub/disk.img"), "");
    const guard = new FileGuard();
    for (const name of ["link.img", "sub", "sub/disk.img", "../disk.img", ""]) {
      expect(() => guard.hold(folder, name, "f")).toThrow("there is no regular file");
    }
  });
});
