import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openStore } from "./store.ts";

/** A small file system of its own needs the right to mount one. */
const canMount = (() => {
  const path = mkdtempSync(join(tmpdir(), "mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", path], { stdio: "ignore" });
    execFileSync("umount", [path]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(path);
  }
})();

describe.skipIf(!canMount)("store on a full disk", () => {
  let path: string;
  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), "store-full-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", path]);
  });
  afterAll(() => {
    execFileSync("umount", [path]);
    rmdirSync(path);
  });

  it("refuses writes, keeps what it acknowledged, and goes on when there is space again", async () => {
    const ballast = join(path, "ballast");
    writeFileSync(ballast, Buffer.alloc(2 * 1024 * 1024));
    const store = await openStore({ path: join(path, "store") });
    const big = Buffer.alloc(100_000, "x");
    const acknowledged: string[] = [];
    const writeUntilFull = async (): Promise<unknown> => {
      for (let index = 0; index < 200; index++) {
        const key = `things/ns/${index}`;
        try {
          await store.put(key, 0, () => big);
          acknowledged.push(key);
        } catch (error) {
          return error;
        }
      }
      return undefined;
    };
    const failure = await writeUntilFull();
    expect(failure).toMatchObject({ code: "StoreDiskFull" });
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(store.range("things/").entries.map((entry) => entry.key)).toEqual(acknowledged.sort());
    rmSync(ballast);
    const { revision } = await store.put("things/ns/later", 0, () => Buffer.from("small"));
    await store.close();
    const again = await openStore({ path: join(path, "store") });
    expect(again.revision).toBe(revision);
    expect(again.count("things/")).toBe(acknowledged.length + 1);
    await again.close();
  });
});
