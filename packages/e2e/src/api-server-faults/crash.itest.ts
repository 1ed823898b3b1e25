import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { keepAliveAgent, requestOnce } from "../conformance/request.ts";
import { bundleApiServer, startBundle } from "../conformance/targets/embedded.ts";
import type { Target } from "../conformance/targets/target.ts";
import { openWatch } from "../conformance/watch.ts";
import { lostWrites, missedEvents, outOfOrder, type Acknowledged, type Witnessed } from "./history.ts";

const path = "/api/v1/namespaces/default/configmaps";
const writers = 6;
const crashes = 3;

let bundle: Awaited<ReturnType<typeof bundleApiServer>>;
let directory: string;
beforeAll(async () => {
  bundle = await bundleApiServer();
  directory = await mkdtemp(join(tmpdir(), "polyvirt-crash-"));
});
afterAll(async () => {
  await bundle.remove();
  await rm(directory, { recursive: true, force: true });
});

it("loses no acknowledged write and tells no watcher a wrong story, whenever it is killed", async () => {
  const acknowledged: Acknowledged[] = [];
  const spans: { from: number; events: Witnessed[] }[] = [];
  // What each writer tried last: it may or may not have been kept when no answer came.
  const next = new Map(Array.from({ length: writers }, (_, index) => [`w${index}`, 1]));
  let target = await startBundle(bundle.file, directory);
  const { port } = new URL(target.connection.url);
  for (let crash = 0; crash < crashes; crash += 1) {
    const watching = Array.from({ length: 3 }, () => witness(target, spans));
    const working = [...next.keys()].map((name) => write(target, name, next, acknowledged));
    const before = acknowledged.length;
    while (acknowledged.length < before + 150) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const pid of target.pids) process.kill(pid, "SIGKILL");
    await Promise.all([...working, ...watching]);
    target = await startBundle(bundle.file, directory, Number(port));
  }
  const { json } = await requestOnce(target.connection, "GET", path);
  await target.stop();
  const held = new Map<string, number>(
    json.items.map((item: Item) => [item.metadata.name, Number(item.data?.["n"] ?? -1)]),
  );
  expect(acknowledged.length).toBeGreaterThan(crashes * 150);
  expect(lostWrites(acknowledged, held)).toEqual([]);
  // Nothing was kept that nobody wrote.
  expect([...next].filter(([name, tried]) => (held.get(name) ?? 0) > tried)).toEqual([]);
  expect(spans.flatMap(({ events }) => events).length).toBeGreaterThan(crashes * 150);
  for (const span of spans) {
    expect(outOfOrder(span.events)).toEqual([]);
    expect(missedEvents(acknowledged, span)).toEqual([]);
  }
});

it("continues a watch over a crash without a gap, or says 410", async () => {
  let target = await startBundle(bundle.file, directory);
  const { port } = new URL(target.connection.url);
  const put = async (n: number) => {
    const body = { metadata: { name: "over" }, data: { n: String(n) } };
    const made = await requestOnce(target.connection, n === 0 ? "POST" : "PUT", n === 0 ? path : `${path}/over`, {
      body,
    });
    expect(made.status).toBeLessThan(300);
    return Number(made.json.metadata.resourceVersion);
  };
  const from = await put(0);
  const before = [await put(1), await put(2)];
  for (const pid of target.pids) process.kill(pid, "SIGKILL");
  target = await startBundle(bundle.file, directory, Number(port));
  const after = await put(3);
  expect(after).toBeGreaterThan(before[1] ?? Infinity);
  const stream = await openWatch(target.connection, `${path}?watch=true&resourceVersion=${from}&timeoutSeconds=1`);
  // The refusal is the whole answer, or the only event in it.
  const events = stream.status === 410 ? [{ type: "ERROR", object: { code: 410 } }] : await stream.rest();
  stream.close();
  await target.stop();
  const told = events.map(({ type, object }) =>
    type === "ERROR" ? object.code : Number(object.metadata.resourceVersion),
  );
  expect([[410], [...before, after]]).toContainEqual(told);
});

interface Item {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** Counts an object up, noting each answer, until the server is gone. */
async function write(
  target: Target,
  name: string,
  next: Map<string, number>,
  acknowledged: Acknowledged[],
): Promise<void> {
  const agent = keepAliveAgent(1);
  try {
    for (;;) {
      const value = next.get(name) ?? 1;
      const body = { metadata: { name }, data: { n: String(value) } };
      let answer = await requestOnce(target.connection, "PUT", `${path}/${name}`, { body, agent });
      if (answer.status === 404) answer = await requestOnce(target.connection, "POST", path, { body, agent });
      if (answer.status >= 300) throw new Error(`unexpected answer: ${answer.text}`);
      acknowledged.push({ name, value, version: Number(answer.json.metadata.resourceVersion) });
      next.set(name, value + 1);
    }
  } catch (error) {
    // The connection ends with the server; everything else is a finding.
    if (!(error instanceof Error && "code" in error) && !/socket hang up|aborted/.test(String(error))) throw error;
  } finally {
    agent.destroy();
  }
}

/** Watches from now on until the server is gone. */
async function witness(target: Target, spans: { from: number; events: Witnessed[] }[]): Promise<void> {
  const list = await requestOnce(target.connection, "GET", path);
  const from = Number(list.json.metadata.resourceVersion);
  const span = { from, events: [] as Witnessed[] };
  spans.push(span);
  const stream = await openWatch(target.connection, `${path}?watch=true&resourceVersion=${from}`);
  for (const { type, object } of await stream.rest(60_000)) {
    const item = object as Item;
    span.events.push({
      type,
      name: item.metadata.name,
      value: Number(item.data?.["n"]),
      version: Number(item.metadata.resourceVersion),
    });
  }
}
