import { request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { startTestServer, type TestServer } from "../testing/test-server.ts";

interface Event {
  type: string;
  object: {
    kind?: string;
    code?: number;
    metadata: { name?: string; resourceVersion: string; annotations?: Record<string, string> };
    data?: Record<string, string>;
  };
}

describe("watch", () => {
  let test: TestServer;
  beforeAll(async () => {
    test = await startTestServer();
  });
  afterAll(() => test.stop());

  const path = "/api/v1/namespaces/default/configmaps";
  const create = async (name: string, labels: Record<string, string> = {}) =>
    (await test.request("POST", path, { metadata: { name, labels } })).json as Event["object"];

  async function open(query: string): Promise<{ events: Event[]; response: IncomingMessage; close(): void }> {
    const { certificate, key } = await test.server.connectionAs("admin", ["system:masters"]).credentials.get();
    const options: RequestOptions = { ca: test.server.certificateAuthority, cert: certificate, key, agent: false };
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${test.server.url}${path}?watch=true&${query}`, options);
      request.on("error", reject);
      request.on("response", (response) => {
        const events: Event[] = [];
        let rest = "";
        response.on("data", (chunk: Buffer) => {
          const lines = (rest + chunk.toString()).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) events.push(JSON.parse(line) as Event);
        });
        response.on("error", () => undefined);
        resolve({ events, response, close: () => request.destroy() });
      });
      request.end();
    });
  }

  const names = (events: readonly Event[]) =>
    events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}`.trim());

  it("sends every change after a resource version, in order", async () => {
    const first = await create("order-1");
    const watch = await open(`resourceVersion=${first.metadata.resourceVersion}`);
    await create("order-2");
    await test.request("PUT", `${path}/order-2`, { metadata: { name: "order-2" }, data: { a: "1" } });
    await test.request("DELETE", `${path}/order-2`);
    await vi.waitUntil(() => watch.events.length >= 3);
    expect(names(watch.events)).toEqual(["ADDED order-2", "MODIFIED order-2", "DELETED order-2"]);
    const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((left, right) => left - right));
    expect(new Set(versions).size).toBe(3);
    watch.close();
  });

  it("begins with what is there, and says when that was all", async () => {
    await create("initial-1", { set: "initial" });
    await create("initial-2", { set: "initial" });
    const watch = await open(
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=set%3Dinitial",
    );
    await vi.waitUntil(() => watch.events.length >= 3);
    expect(names(watch.events)).toEqual(["ADDED initial-1", "ADDED initial-2", "BOOKMARK"]);
    expect(watch.events[2]?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
    watch.close();
  });

  it("adds and removes objects as they begin and cease to match a selector", async () => {
    const { metadata } = await create("moving", { color: "red" });
    const watch = await open(`resourceVersion=${metadata.resourceVersion}&labelSelector=color%3Dblue`);
    const setColor = (color: string) =>
      test.request("PUT", `${path}/moving`, { metadata: { name: "moving", labels: { color } } });
    await setColor("blue");
    await setColor("green");
    await vi.waitUntil(() => watch.events.length >= 2);
    expect(names(watch.events)).toEqual(["ADDED moving", "DELETED moving"]);
    watch.close();
  });

  it("watches one object by its name", async () => {
    const { metadata } = await create("only");
    const watch = await open(`resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3Donly`);
    await create("only-not");
    await test.request("DELETE", `${path}/only`);
    await vi.waitUntil(() => watch.events.length >= 1);
    expect(names(watch.events)).toEqual(["DELETED only"]);
    watch.close();
  });

  it("answers 410 for a version from before a restart", async () => {
    const { metadata } = await create("before-restart");
    await create("after-that");
    await test.restart();
    const answer = await test.request("GET", `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    expect(answer.status).toBe(410);
    expect(answer.json).toMatchObject({ reason: "Expired" });
  });

  it("keeps nothing for a watcher that does not read, and drops it when history moves on", async () => {
    const watch = await open("resourceVersion=0");
    watch.response.pause();
    const big = "x".repeat(200_000);
    await create("flood");
    for (let index = 0; index < 110; index++) {
      await test.request(
        "PATCH",
        `${path}/flood`,
        { data: { big: `${index}${big}` } },
        { "Content-Type": "application/merge-patch+json" },
      );
    }
    watch.response.resume();
    await vi.waitUntil(() => watch.events.some(({ type }) => type === "ERROR"), 10_000);
    expect(watch.events.at(-1)).toMatchObject({ type: "ERROR", object: { code: 410 } });
    watch.close();
  });

  it("pages through a list that changes meanwhile, as it was at the beginning", async () => {
    for (const index of [1, 2, 3, 4, 5]) await create(`page-${index}`, { set: "page" });
    const query = `${path}?labelSelector=set%3Dpage&limit=2`;
    const first = (await test.request("GET", query)).json;
    await test.request("DELETE", `${path}/page-3`);
    await create("page-9", { set: "page" });
    const second = (await test.request("GET", `${query}&continue=${first.metadata.continue}`)).json;
    const third = (await test.request("GET", `${query}&continue=${second.metadata.continue}`)).json;
    const all = [first, second, third].flatMap((list) => list.items.map((item: Event["object"]) => item.metadata.name));
    expect(all).toEqual(["page-1", "page-2", "page-3", "page-4", "page-5"]);
    expect(third.metadata.continue).toBeUndefined();
    expect(new Set([first, second, third].map((list) => list.metadata.resourceVersion)).size).toBe(1);
  });

  it("makes tables of changes for clients that ask for tables", async () => {
    const { metadata } = await create("tabled");
    const answer = await test.request("GET", `${path}/tabled`, undefined, {
      Accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    expect(answer.json).toMatchObject({ kind: "Table", rows: [{ cells: ["tabled", 0, expect.any(String)] }] });
    expect(answer.json.rows[0].object).toMatchObject({
      kind: "PartialObjectMetadata",
      metadata: { uid: expect.any(String) },
    });
    expect(metadata.name).toBe("tabled");
  });
});
