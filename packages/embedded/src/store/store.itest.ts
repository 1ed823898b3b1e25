import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openStore } from "./store.ts";

/** Writes as fast as it can from several places at once, and prints each acknowledged write. */
const writer = `
  import { openStore } from ${JSON.stringify(new URL("store.ts", import.meta.url).href)};
  const store = await openStore({ path: process.argv[1] });
  const seen = new Map();
  for (const { key, revision } of store.range("").entries) seen.set(key, revision);
  const work = async (key) => {
    for (let count = 0; ; count++) {
      const expected = seen.get(key) ?? 0;
      const { revision } = await store.put(key, expected, (next) => Buffer.from(key + "@" + next));
      seen.set(key, revision);
      process.stdout.write(key + " " + revision + "\\n");
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => work("things/ns/" + index)));
`;

describe("store under kill -9", () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), "store-kill-"));
  });
  afterEach(() => rmSync(path, { recursive: true }));

  /** Runs the writer until it acknowledged some writes, kills it, and returns what it acknowledged. */
  function runAndKill(writes: number): Promise<Map<string, number>> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", writer, path], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const acknowledged = new Map<string, number>();
      let count = 0;
      let rest = "";
      child.stdout.on("data", (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const [key = "", revision = "0"] = line.split(" ");
          acknowledged.set(key, Number(revision));
          count++;
        }
        if (count >= writes) child.kill("SIGKILL");
      });
      child.on("error", reject);
      child.on("close", () => resolve(acknowledged));
    });
  }

  it("has every acknowledged write, and goes on counting from there", async () => {
    let newest = 0;
    for (const writes of [40, 80, 20]) {
      const acknowledged = await runAndKill(writes);
      const store = await openStore({ path });
      for (const [key, revision] of acknowledged) {
        const entry = store.get(key);
        expect(entry?.revision).toBeGreaterThanOrEqual(revision);
        expect(entry?.value.toString()).toBe(`${key}@${entry?.revision}`);
        expect(revision).toBeGreaterThan(newest);
      }
      const revisions = store.range("things/").entries.map((entry) => entry.revision);
      newest = store.revision;
      expect(newest).toBeGreaterThanOrEqual(Math.max(...revisions));
      await store.close();
    }
  });
});
