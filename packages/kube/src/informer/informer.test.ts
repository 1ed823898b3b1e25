import { configMaps, type ConfigMap } from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createKubeClient } from "../client/client.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { fixedCredentials } from "../config/connection.ts";
import { answer, failure, startApiDouble, type ApiDouble } from "../testing/api-double.ts";
import { createInformer, type Informer } from "./informer.ts";

let api: ApiDouble;
let client: KubeClient;
let stop: AbortController;

beforeEach(async () => {
  api = await startApiDouble();
  stop = new AbortController();
  client = createKubeClient({
    clock: systemClock,
    logger: silentLogger,
    connection: {
      server: api.url,
      certificateAuthority: api.certificateAuthority,
      namespace: "default",
      credentials: fixedCredentials(api.clientCertificate),
    },
  });
});
afterEach(async () => {
  stop.abort();
  client.close();
  await api.close();
});

const config = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  metadata: { name, namespace: "default" },
  data,
});

function start(): { informer: Informer<ConfigMap>; story: string[] } {
  const informer = createInformer(client, configMaps, {
    clock: systemClock,
    logger: silentLogger,
    indexes: { color: ({ data }) => (data?.color === undefined ? [] : [data.color]) },
  });
  const story: string[] = [];
  informer.on({
    onSet: ({ metadata, data }, old) => story.push(`${old === undefined ? "+" : "~"}${metadata.name}:${data?.v ?? ""}`),
    onDelete: ({ metadata }) => story.push(`-${metadata.name}`),
  });
  informer.start(stop.signal);
  return { informer, story };
}

/** Waits for something that other processes' sockets bring about; the limit is vitest's own. */
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 4000, interval: 5 });

describe("createInformer", () => {
  it("lists, then follows", async () => {
    api.put(config("a", { v: "1" }));
    const { informer, story } = start();
    await informer.synced();
    api.put(config("b"));
    api.put(config("a", { v: "2" }));
    api.remove("b");
    await eventually(() => expect(story).toEqual(["+a:1", "+b:", "~a:2", "-b"]));
    expect(informer.get("default/a")?.data).toEqual({ v: "2" });
    expect(informer.list()).toHaveLength(1);
  });

  it("keeps its indexes current", async () => {
    api.put(config("a", { color: "red" }));
    api.put(config("b", { color: "red" }));
    const { informer } = start();
    await informer.synced();
    const names = (color: string) => informer.byIndex("color", color).map(({ metadata }) => metadata.name);
    expect(names("red")).toEqual(["a", "b"]);
    api.put(config("a", { color: "blue" }));
    api.remove("b");
    await eventually(() => expect([names("red"), names("blue")]).toEqual([[], ["a"]]));
    expect(() => informer.byIndex("size", "1")).toThrow(/no index "size"/);
  });

  it("goes on from where a broken watch was, without telling anything twice", async () => {
    const { informer, story } = start();
    await informer.synced();
    await eventually(() => expect(api.watches.size).toBe(1));
    for (let round = 0; round < 10; round++) {
      api.breakConnections();
      await eventually(() => expect(api.watches.size).toBe(0));
      api.put(config(`c${round}`));
      await eventually(() => expect(api.watches.size).toBe(1));
    }
    await eventually(() => expect(story).toEqual(Array.from({ length: 10 }, (_, round) => `+c${round}:`)));
    expect(api.requests.filter(({ url }) => url.searchParams.get("watch") !== "true")).toHaveLength(1);
  }, 30_000);

  it("lists again when history is lost, and notices what was deleted meanwhile", async () => {
    api.put(config("a"));
    api.put(config("b"));
    const { informer, story } = start();
    await informer.synced();
    await eventually(() => expect(api.watches.size).toBe(1));
    api.intercept((request, response) => {
      if (api.watches.size > 0 || request.url.searchParams.get("resourceVersion") !== "2") return false;
      answer(response, 410, failure(410, "Expired", "too old resource version"));
      return true;
    });
    api.breakConnections();
    await eventually(() => expect(api.watches.size).toBe(0));
    api.remove("a");
    api.compact();
    await eventually(() => expect(story).toEqual(["+a:", "+b:", "-a"]));
  });

  it("waits until the server is there", async () => {
    let refusals = 2;
    api.intercept((_request, response) => {
      if (refusals-- <= 0) return false;
      answer(response, 503, failure(503, "ServiceUnavailable", "starting"));
      return true;
    });
    const { informer } = start();
    await informer.synced();
    expect(refusals).toBeLessThan(0);
  });

  it("tells late handlers what is there and stops telling removed ones", async () => {
    api.put(config("a"));
    const { informer } = start();
    await informer.synced();
    const seen: string[] = [];
    const remove = informer.on({ onSet: ({ metadata }) => seen.push(metadata.name ?? "") });
    expect(seen).toEqual(["a"]);
    remove();
    api.put(config("b"));
    await eventually(() => expect(informer.list()).toHaveLength(2));
    expect(seen).toEqual(["a"]);
  });

  it("survives a handler that throws", async () => {
    const { informer } = start();
    informer.on({
      onSet: () => {
        throw new Error("handler");
      },
    });
    await informer.synced();
    api.put(config("a"));
    api.put(config("b"));
    await eventually(() => expect(informer.list()).toHaveLength(2));
  });
});
