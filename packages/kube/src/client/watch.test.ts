import { configMaps, type ConfigMap } from "@polyvirt/api/k8s";
import { silentLogger, systemClock, type Clock } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fixedCredentials } from "../config/connection.ts";
import { answer, failure, startApiDouble, type ApiDouble } from "../testing/api-double.ts";
import { createKubeClient } from "./client.ts";
import type { KubeClient } from "./kube-client.ts";
import type { WatchOptions } from "./watch.ts";

let api: ApiDouble;
let stop: AbortController;
const clients: KubeClient[] = [];

beforeEach(async () => {
  api = await startApiDouble();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  for (const client of clients.splice(0)) client.close();
  await api.close();
});

function connect(clock: Clock = systemClock): KubeClient {
  const client = createKubeClient({
    clock,
    logger: silentLogger,
    connection: {
      server: api.url,
      certificateAuthority: api.certificateAuthority,
      namespace: "default",
      credentials: fixedCredentials(api.clientCertificate),
    },
  });
  clients.push(client);
  return client;
}

const config = (name: string): ConfigMap => ({ metadata: { name, namespace: "default" } });

function collect(client: KubeClient, options: WatchOptions = {}) {
  const story: string[] = [];
  const ended = (async () => {
    for await (const { type, object } of client.watch(configMaps, { signal: stop.signal, ...options })) {
      story.push(`${type} ${object.metadata.name ?? object.metadata.resourceVersion}`);
    }
    return "ended";
  })().catch((error: unknown) => error);
  return { story, ended };
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 4000, interval: 5 });

describe("watch", () => {
  it("yields what happens, from the given version", async () => {
    const first = api.put(config("a"));
    api.put(config("b"));
    const { story } = collect(connect(), { resourceVersion: first.metadata.resourceVersion ?? "" });
    await eventually(() => expect(story).toEqual(["ADDED b"]));
    api.remove("b");
    await eventually(() => expect(story).toEqual(["ADDED b", "DELETED b"]));
  });

  it("shows bookmarks only to those who ask, and uses them to go on", async () => {
    const { story } = collect(connect(), { resourceVersion: "0" });
    const asked = collect(connect(), { resourceVersion: "0", bookmarks: true });
    await eventually(() => expect(api.watches.size).toBe(2));
    const bookmark = { type: "BOOKMARK", object: { kind: "ConfigMap", metadata: { resourceVersion: "77" } } };
    for (const watch of api.watches) watch.write(`${JSON.stringify(bookmark)}\n`);
    await eventually(() => expect(asked.story).toEqual(["BOOKMARK 77"]));
    api.breakConnections();
    await eventually(() => expect(api.requests).toHaveLength(4));
    const versions = api.requests.slice(2).map(({ url }) => url.searchParams.get("resourceVersion"));
    expect(versions).toEqual(["77", "77"]);
    expect(story).toEqual([]);
  });

  it("reads events that come in pieces, in the middle of a character", async () => {
    const { story } = collect(connect(), { resourceVersion: "0" });
    await eventually(() => expect(api.watches.size).toBe(1));
    const [watch] = api.watches;
    const line = Buffer.from(`${JSON.stringify({ type: "ADDED", object: config("zürich") })}\n`);
    const middle = line.indexOf("ü") + 1;
    watch?.write(line.subarray(0, middle));
    await systemClock.sleep(20);
    watch?.write(line.subarray(middle));
    await eventually(() => expect(story).toEqual(["ADDED zürich"]));
  });

  it("ends with KubeGone when history is lost", async () => {
    const first = api.put(config("a"));
    api.compact();
    const { ended } = collect(connect(), { resourceVersion: first.metadata.resourceVersion ?? "" });
    expect(await ended).toMatchObject({ code: "KubeGone" });
  });

  it("ends with the server's refusal", async () => {
    api.intercept((_request, response) => (answer(response, 403, failure(403, "Forbidden", "no")), true));
    expect(await collect(connect()).ended).toMatchObject({ code: "KubeForbidden" });
  });

  it("ends quietly when told to", async () => {
    const { ended } = collect(connect());
    await eventually(() => expect(api.watches.size).toBe(1));
    stop.abort();
    expect(await ended).toBe("ended");
    await eventually(() => expect(api.watches.size).toBe(0));
  });

  it("replaces a connection that stays silent", async () => {
    const clock = createManualClock();
    const { story } = collect(connect(clock), { resourceVersion: "0" });
    await eventually(() => expect(api.watches.size).toBe(1));
    const [silent] = api.watches;
    await clock.advance(180_000);
    await eventually(() => expect(api.watches.has(silent!)).toBe(false));
    await clock.advance(1_000);
    await eventually(() => expect(api.watches.size).toBe(1));
    api.put(config("a"));
    await eventually(() => expect(story).toEqual(["ADDED a"]));
  });

  it("waits longer and longer while the server is away, and not after it was there", async () => {
    const clock = createManualClock();
    let refusals = 4;
    api.intercept((request, response) => {
      if (refusals <= 0) return false;
      refusals--;
      answer(response, 503, failure(503, "ServiceUnavailable", "away"));
      return true;
    });
    collect(connect(clock), { resourceVersion: "0" });
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      await eventually(() => expect([api.requests.length, clock.pendingTimers()]).toEqual([attempt, 1]));
      const before = clock.monotonic();
      while (api.requests.length === attempt) {
        await clock.advance(50);
        await systemClock.sleep(5);
      }
      delays.push(clock.monotonic() - before);
    }
    expect(delays).toEqual([...delays].sort((left, right) => left - right));
    expect(delays[3]).toBeGreaterThan(700);
  });
});
