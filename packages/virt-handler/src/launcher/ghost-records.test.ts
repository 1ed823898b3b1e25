import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openGhostRecords } from "./ghost-records.ts";

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "polyvirt-ghosts-"))));
afterEach(() => rmSync(directory, { recursive: true }));

const record = { uid: "u-1", name: "hello", namespace: "default", podUid: "p-1" };

describe("openGhostRecords", () => {
  it("remembers over a restart, until told to forget", () => {
    const records = openGhostRecords(directory, silentLogger);
    records.put(record);
    records.put({ ...record, uid: "u-2" });
    records.remove("u-2");
    const again = openGhostRecords(directory, silentLogger);
    expect(again.list()).toEqual([record]);
    expect(again.get("u-1")).toEqual(record);
    expect(readdirSync(directory)).toEqual(["u-1.json"]);
  });

  it("drops what a crash or someone else left behind", () => {
    writeFileSync(join(directory, "u-1.json.new"), "{");
    writeFileSync(join(directory, "broken.json"), "{");
    writeFileSync(join(directory, "evil.json"), JSON.stringify({ ...record, podUid: "../../etc" }));
    expect(openGhostRecords(directory, silentLogger).list()).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("refuses UIDs that would leave the folder", () => {
    const records = openGhostRecords(directory, silentLogger);
    expect(() => records.put({ ...record, uid: "../x" })).toThrow(/no UIDs/);
  });
});
