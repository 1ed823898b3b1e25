import { getEventListeners } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { configMaps } from "@polyvirt/api/k8s";
import { silentLogger, systemClock, type Clock } from "@polyvirt/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubeClient } from "../client/client.ts";
import { fixedCredentials } from "../config/connection.ts";
import { createInformer } from "./informer.ts";

const RECONNECTS = 10_000;
const WARM_UP = 1_000;
/** What the runtime itself may need more after so many requests; a leak of one closure each is far above. */
const ALLOWED_GROWTH_BYTES = 4 * 1024 * 1024;

/** Waiting takes no time here, so that ten thousand connections fit into a test. */
const hasty: Clock = { ...systemClock, sleep: async (_delay, signal) => signal?.throwIfAborted() };

/** Every watch gets one event and ends. */
let version = 0;
let watches = 0;
let onWatch: (count: number) => void = () => {};
const server = createServer((request, response) => {
  if (request.url?.includes("watch=true") === true) serveWatch(response);
  else response.end(JSON.stringify({ metadata: { resourceVersion: String(version) }, items: [] }));
});

function serveWatch(response: ServerResponse): void {
  version++;
  watches++;
  onWatch(watches);
  const metadata = { name: "counter", namespace: "default", resourceVersion: String(version) };
  response.end(`${JSON.stringify({ type: "MODIFIED", object: { metadata, data: { count: String(watches) } } })}\n`);
}

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  // The flag gives new contexts a `gc` function.
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

describe("an informer over ten thousand reconnects", () => {
  it("misses nothing and keeps nothing", async () => {
    const stop = new AbortController();
    const { port } = server.address() as AddressInfo;
    const client = createKubeClient({
      clock: hasty,
      logger: silentLogger,
      connection: { server: `http://127.0.0.1:${port}`, namespace: "default", credentials: fixedCredentials({}) },
    });
    const informer = createInformer(client, configMaps, { clock: hasty, logger: silentLogger });
    let seen = 0;
    informer.on({ onSet: () => seen++ });
    let heapBefore = 0;
    const finished = new Promise<void>((resolve) => {
      onWatch = (count) => {
        if (count === WARM_UP) heapBefore = heapAfterCollection();
        if (count === RECONNECTS) resolve();
      };
    });
    informer.start(stop.signal);
    await finished;
    const heapAfter = heapAfterCollection();
    expect(seen).toBeGreaterThanOrEqual(RECONNECTS - 1);
    expect(getEventListeners(stop.signal, "abort").length).toBeLessThan(10);
    expect(heapAfter - heapBefore).toBeLessThan(ALLOWED_GROWTH_BYTES);
    stop.abort();
    client.close();
  });
});
