import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dependenciesOf, resolveModules } from "./kernel-modules.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "modules-"));
  await mkdir(join(folder, "kernel/drivers"), { recursive: true });
  await writeFile(join(folder, "modules.builtin"), "kernel/lib/crc16.ko\n");
});
afterEach(() => rm(folder, { recursive: true }));

const addModule = (name: string, depends: string) =>
  writeFile(join(folder, `kernel/drivers/${name}.ko`), `\x7fELF\0name=${name}\0depends=${depends}\0vermagic=6.1\0`);

describe("resolveModules", () => {
  it("puts a module after what it depends on, each once, and leaves out what is built in", async () => {
    await addModule("virtio_blk", "virtio,virtio_ring");
    await addModule("virtio_ring", "virtio");
    await addModule("virtio", "");
    await addModule("ext4", "mbcache,crc16");
    await addModule("mbcache", "");
    const modules = await resolveModules(folder, ["virtio-blk", "ext4"]);
    expect(modules.map((module) => module.name)).toEqual(["virtio", "virtio_ring", "virtio_blk", "mbcache", "ext4"]);
  });

  it("names the module that is missing", async () => {
    await addModule("virtio_blk", "virtio");
    await expect(resolveModules(folder, ["virtio_blk"])).rejects.toThrow(/kernel module virtio below/);
  });
});

describe("dependenciesOf", () => {
  it("finds nothing in a file without module information", () => {
    expect(dependenciesOf(Buffer.from("no module"))).toEqual([]);
  });
});
