import { mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { openTrustedDirectory } from "@polyvirt/host";
import { pack, type Header } from "tar-stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { extractLayer } from "./extract-layer.ts";
import { openOciStore } from "./oci-store.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oci-"));
});
afterEach(() => rm(folder, { recursive: true }));

const amd64 = { os: "linux", architecture: "amd64" };
const arm64 = { os: "linux", architecture: "arm64" };
const file = (path: string, text: string) => ({ path, content: Buffer.from(text) });

describe("OciStore", () => {
  it("gives back what was added, by reference and platform", async () => {
    const store = openOciStore(folder);
    await store.add(["example.test/demo:1"], [file("boot/kernel", "amd64 kernel")], amd64);
    await store.add(["example.test/demo:1"], [file("boot/kernel", "arm64 kernel")], arm64);
    const unpacked = await store.unpack(await store.resolve("example.test/demo:1", arm64));
    expect(await readFile(join(unpacked, "boot/kernel"), "utf8")).toBe("arm64 kernel");
    expect((await stat(unpacked)).mode & 0o777).toBe(0o755);
    expect(await store.list()).toEqual(["example.test/demo:1"]);
  });

  it("takes a reference without tag as :latest, and a digest as itself", async () => {
    const store = openOciStore(folder);
    const digest = await store.add(["demo"], [file("a", "1")], amd64);
    expect(await store.resolve("demo:latest", amd64)).toBe(digest);
    expect(await store.resolve(`demo@${digest}`, amd64)).toBe(digest);
  });

  it("replaces an image that is added again and forgets one that is removed", async () => {
    const store = openOciStore(folder);
    const first = await store.add(["demo:1"], [file("a", "1")], amd64);
    const second = await store.add(["demo:1"], [file("a", "2")], amd64);
    expect(second).not.toBe(first);
    expect(await store.resolve("demo:1", amd64)).toBe(second);
    expect(await store.remove("demo:1")).toBe(true);
    expect(await store.remove("demo:1")).toBe(false);
    await expect(store.resolve("demo:1", amd64)).rejects.toMatchObject({ code: "ImageUnknown" });
  });

  it("names the platforms that are there when the wanted one is not", async () => {
    const store = openOciStore(folder);
    await store.add(["demo:1"], [file("a", "1")], amd64);
    await expect(store.resolve("demo:1", arm64)).rejects.toThrow("for linux/arm64: it is there for linux/amd64");
  });

  it("refuses a layer whose bytes were changed, and leaves nothing half unpacked", async () => {
    const store = openOciStore(folder);
    const digest = await store.add(["demo:1"], [file("a", "1")], amd64);
    const blobs = join(folder, "blobs/sha256");
    for (const name of await readdir(blobs)) {
      if (name !== digest.slice(7)) await writeFile(join(blobs, name), "other bytes");
    }
    await expect(store.unpack(digest)).rejects.toMatchObject({ code: "ImageCorrupt" });
    expect(await readdir(join(folder, "unpacked"))).toEqual([]);
  });

  it("unpacks once for everyone who asks at the same time", async () => {
    const store = openOciStore(folder);
    const digest = await store.add(["demo:1"], [file("a", "1")], amd64);
    const paths = await Promise.all([store.unpack(digest), store.unpack(digest), openOciStore(folder).unpack(digest)]);
    expect(new Set(paths).size).toBe(1);
  });

  it.each(["", "UPPER:1", "a b", "../x:1", "demo:1@sha256:12"])('refuses "%s" as a reference', async (reference) => {
    await expect(openOciStore(folder).resolve(reference, amd64)).rejects.toMatchObject({
      code: "ImageReferenceInvalid",
    });
  });
});

describe("extractLayer", () => {
  const unpack = async (...entries: (Partial<Header> & { name: string; text?: string })[]) => {
    const archive = pack();
    for (const { text, ...header } of entries) archive.entry(header, text ?? "");
    archive.finalize();
    using root = openTrustedDirectory(join(folder));
    await extractLayer(root, { content: Readable.from(archive), compression: "none", image: "test" });
  };

  it("applies whiteouts of later layers", async () => {
    await unpack({ name: "etc/a", text: "1" }, { name: "etc/b", text: "2" }, { name: "opt/c", text: "3" });
    await unpack({ name: "etc/.wh.a" }, { name: "opt/.wh..wh..opq" });
    expect(await readdir(join(folder, "etc"))).toEqual(["b"]);
    expect(await readdir(join(folder, "opt"))).toEqual([]);
  });

  it("keeps hard links inside the image", async () => {
    await unpack({ name: "a", text: "shared" }, { name: "b", type: "link", linkname: "a" });
    expect(await readFile(join(folder, "b"), "utf8")).toBe("shared");
  });

  let outside: string;
  beforeEach(async () => {
    outside = await mkdtemp(join(tmpdir(), "outside-"));
  });
  afterEach(() => rm(outside, { recursive: true }));

  it("does not write through a symlink of the archive itself", async () => {
    const write = unpack({ name: "door", type: "symlink", linkname: outside }, { name: "door/planted", text: "x" });
    await expect(write).rejects.toMatchObject({ code: "HostPathUnsafe" });
    expect(await readdir(outside)).toEqual([]);
  });

  it("does not write through a symlink of an earlier layer", async () => {
    await symlink(outside, join(folder, "door"));
    await expect(unpack({ name: "door/planted", text: "x" })).rejects.toMatchObject({ code: "HostPathUnsafe" });
    expect(await readdir(outside)).toEqual([]);
  });

  it("replaces a symlink in the last component instead of following it", async () => {
    await writeFile(join(outside, "victim"), "untouched");
    await symlink(join(outside, "victim"), join(folder, "file"));
    await unpack({ name: "file", text: "new" });
    expect(await readFile(join(outside, "victim"), "utf8")).toBe("untouched");
  });

  it.each([
    { name: "../escape", text: "x" },
    { name: "a/../../escape", text: "x" },
    { name: "link", type: "link", linkname: "../../etc/passwd" } as const,
    { name: "device", type: "character-device", devmajor: 1, devminor: 3 } as const,
  ])("refuses $name", async (entry) => {
    await expect(unpack(entry)).rejects.toMatchObject({ code: "ImageUnsafe" });
  });
});
