import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { awaitSharedFolders, isOnlyShared, sharedFolderSockets } from "./shared-folders.ts";

const vmi: VirtualMachineInstance = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "vm" },
  spec: {
    domain: {
      devices: {
        filesystems: ["one", "two"].map((name) => ({ name, virtiofs: {} })),
        disks: [{ name: "two" }, { name: "three" }],
      },
    },
  },
};

describe("shared folders", () => {
  let paths: { public: string };
  beforeEach(() => {
    paths = { public: mkdtempSync(join(tmpdir(), "folders-")) };
    mkdirSync(join(paths.public, "virtiofs-containers"));
  });
  afterEach(() => rmSync(paths.public, { recursive: true }));
  const listen = (name: string) => writeFileSync(join(paths.public, `virtiofs-containers/${name}.sock`), "");

  it("have the sockets of the daemons that listen", () => {
    listen("two");
    expect(sharedFolderSockets(vmi, paths)).toEqual({ two: join(paths.public, "virtiofs-containers/two.sock") });
  });

  it("are waited for, but not for ever", async () => {
    listen("one");
    await awaitSharedFolders(vmi, paths, 40);
    expect(Object.keys(sharedFolderSockets(vmi, paths))).toEqual(["one"]);
    const waiting = awaitSharedFolders(vmi, paths, 60_000);
    listen("two");
    await waiting;
    expect(Object.keys(sharedFolderSockets(vmi, paths))).toEqual(["one", "two"]);
  });

  it("are no disks unless the VMI says so, too", () => {
    expect(["one", "two", "three"].map((name) => isOnlyShared(vmi, name))).toEqual([true, false, false]);
  });
});
