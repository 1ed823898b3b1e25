import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkImage, findFile } from "./image-file.ts";

describe("files of an image volume", () => {
  let folder: string;
  let mount: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "image-"));
    mount = join(folder, "mount");
    mkdirSync(join(mount, "boot"), { recursive: true });
    writeFileSync(join(folder, "outside"), "a secret of the node");
    writeFileSync(join(mount, "boot/vmlinuz"), "a kernel");
    symlinkSync(join(folder, "outside"), join(mount, "boot/absolute"));
    symlinkSync("../../outside", join(mount, "boot/relative"));
    symlinkSync(folder, join(mount, "away"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("are found with and without a leading slash", () => {
    expect(findFile(mount, "/boot/vmlinuz")).toBe(join(mount, "boot/vmlinuz"));
    expect(findFile(mount, "boot/vmlinuz")).toBe(join(mount, "boot/vmlinuz"));
  });

  it.each([
    ["../outside", 'must not contain ".."'],
    ["/../outside", 'must not contain ".."'],
    ["boot/../../outside", 'must not contain ".."'],
    ["boot/absolute", "found a symlink"],
    ["boot/relative", "found a symlink"],
    ["away/outside", "a component is a symlink"],
    ["boot", "found a directory"],
    ["missing", "no such file"],
  ])("never lead out of it: %s", (path, why) => {
    expect(() => findFile(mount, path)).toThrow(why);
  });

  it("are judged alike when they are disks", () => {
    expect(() => checkImage(mount, "boot/relative", "spec.volumes[0]")).toThrow("symlink");
  });
});
