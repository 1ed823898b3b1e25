import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openStore, type Store } from "./store.ts";

const bytes = (text: string) => (revision: number) => Buffer.from(`${text}@${revision}`);
const textOf = (entry: { value: Buffer | undefined } | undefined) => entry?.value?.toString();

describe("store", () => {
  let path: string;
  let store: Store;

  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), "store-"));
    store = await openStore({ path, historyEvents: 8 });
  });

  afterEach(async () => {
    await store.close();
    rmSync(path, { recursive: true });
  });

  it("gives each write its own higher revision and keeps it over a restart", async () => {
    const first = await store.put("pods/a/x", 0, bytes("one"));
    const second = await store.put("pods/a/x", first.revision, bytes("two"));
    await store.remove("pods/a/x", second.revision, bytes("gone"));
    const removed = store.revision;
    expect(second.revision).toBeGreaterThan(first.revision);
    await store.close();
    store = await openStore({ path });
    expect(store.revision).toBe(removed);
    expect(store.get("pods/a/x")).toBeUndefined();
  });

  it("lets one of two concurrent writers of a revision win", async () => {
    const first = await store.put("pods/a/x", 0, bytes("one"));
    const results = await Promise.allSettled([
      store.put("pods/a/x", first.revision, bytes("left")),
      store.put("pods/a/x", first.revision, bytes("right")),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected"]);
    expect(results[1]).toMatchObject({ reason: { code: "StoreConflict" } });
    expect(textOf(store.get("pods/a/x"))).toMatch(/^left@/);
  });

  it("refuses to create what exists", async () => {
    await store.put("pods/a/x", 0, bytes("one"));
    await expect(store.put("pods/a/x", 0, bytes("two"))).rejects.toMatchObject({ code: "StoreConflict" });
  });

  it("lists by prefix in order, page by page", async () => {
    for (const name of ["b/2", "a/1", "b/1", "c/1"]) await store.put(`pods/${name}`, 0, bytes(name));
    await store.put("podsx/b/1", 0, bytes("other bucket"));
    expect(store.range("pods/").entries.map((entry) => entry.key)).toEqual([
      "pods/a/1",
      "pods/b/1",
      "pods/b/2",
      "pods/c/1",
    ]);
    expect(store.range("pods/b/").entries).toHaveLength(2);
    const page = store.range("pods/", { limit: 2 });
    expect(page.more).toBe(true);
    const rest = store.range("pods/", { limit: 2, after: page.entries[1]!.key });
    expect(rest.entries.map((entry) => entry.key)).toEqual(["pods/b/2", "pods/c/1"]);
    expect(rest.more).toBe(false);
    expect(store.count("pods/")).toBe(4);
  });

  it("reads an older revision: created keys vanish, changed ones have their old value, removed ones are back", async () => {
    const kept = await store.put("pods/a/changed", 0, bytes("old"));
    const gone = await store.put("pods/a/removed", 0, bytes("here"));
    const then = store.revision;
    await store.put("pods/a/changed", kept.revision, bytes("new"));
    await store.remove("pods/a/removed", gone.revision, bytes("last"));
    await store.put("pods/a/added", 0, bytes("late"));
    const past = store.range("pods/a/", { revision: then });
    expect(past.entries.map((entry) => textOf(entry)!.split("@")[0])).toEqual(["old", "here"]);
    expect(store.range("pods/a/").entries.map((entry) => textOf(entry)!.split("@")[0])).toEqual(["late", "new"]);
  });

  it("shows nothing of a write before it is on disk", async () => {
    const write = store.put("pods/a/x", 0, bytes("one"));
    expect(store.get("pods/a/x")).toBeUndefined();
    expect(store.range("pods/").entries).toEqual([]);
    expect(store.count("pods/")).toBe(0);
    await write;
    expect(store.count("pods/")).toBe(1);
  });

  it("replays events after a revision, in order and by prefix", async () => {
    const start = store.revision;
    const one = await store.put("pods/a/x", 0, bytes("one"));
    await store.put("nodes//n", 0, bytes("node"));
    await store.put("pods/b/y", 0, bytes("other namespace"));
    await store.remove("pods/a/x", one.revision, bytes("last"));
    let woken = 0;
    const cursor = store.watch("pods/a/", start, () => woken++);
    expect(textOf(cursor.next())).toMatch(/^one@/);
    const removal = cursor.next();
    expect(removal).toMatchObject({ value: undefined, previous: { revision: one.revision } });
    expect(removal!.last!.toString()).toBe(`last@${removal!.revision}`);
    expect(cursor.next()).toBeUndefined();
    await store.put("pods/a/z", 0, bytes("later"));
    expect(woken).toBe(1);
    expect(textOf(cursor.next())).toMatch(/^later@/);
    cursor.close();
  });

  it("tells a reader that stays behind that its history is gone, and keeps no queue for it", async () => {
    const start = store.revision;
    const cursor = store.watch("pods/", start, () => undefined);
    for (let index = 0; index < 40; index++) await store.put(`pods/a/${index}`, 0, bytes("x"));
    expect(cursor.next()).toBeUndefined();
    expect(cursor.compacted).toBe(true);
    expect(() => store.watch("pods/", start, () => undefined)).toThrow(
      expect.objectContaining({ code: "StoreCompacted" }),
    );
    expect(() => store.range("pods/", { revision: start })).toThrow(
      expect.objectContaining({ code: "StoreCompacted" }),
    );
  });

  it("lets nobody else read its files", () => {
    for (const file of readdirSync(path)) expect(statSync(join(path, file)).mode & 0o077).toBe(0);
  });

  it("cannot be opened twice", async () => {
    await expect(openStore({ path })).rejects.toMatchObject({ code: "StoreLocked" });
  });
});
