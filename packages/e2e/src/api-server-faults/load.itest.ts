import { readFileSync } from "node:fs";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keepAliveAgent, requestOnce } from "../conformance/request.ts";
import { startEmbedded } from "../conformance/targets/embedded.ts";
import type { Target } from "../conformance/targets/target.ts";
import { openWatch } from "../conformance/watch.ts";

const path = "/api/v1/namespaces/default/configmaps";
const objects = 10_000;

// The tests of this file build on each other: the objects of the first are there in the others.
describe("the embedded API server under load", () => {
  let target: Target;
  const agent = keepAliveAgent(16);
  beforeAll(async () => {
    target = await startEmbedded();
  });
  afterAll(async () => {
    agent.destroy();
    await target.stop();
  });

  const create = async (name: string, text = "x"): Promise<number> => {
    const body = { metadata: { name }, data: { text } };
    return (await requestOnce(target.connection, "POST", path, { body, agent })).status;
  };
  const memory = () => residentMiB(target);

  it("holds 10,000 objects, and lists them in pages that fit together", async () => {
    let made = 0;
    const work = async () => {
      for (let index = made; index < objects; index = made) {
        made += 1;
        expect(await create(`o${String(index).padStart(5, "0")}`)).toBe(201);
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    const names: string[] = [];
    let token = "";
    do {
      const query = `limit=500${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`;
      const { json } = await requestOnce(target.connection, "GET", `${path}?${query}`, { agent });
      names.push(...json.items.map((item: { metadata: { name: string } }) => item.metadata.name));
      token = json.metadata.continue ?? "";
    } while (token !== "");
    const numbered = names.filter((name) => /^o\d{5}$/.test(name));
    expect(numbered).toHaveLength(objects);
    expect(numbered).toEqual([...new Set(numbered)].toSorted());
    expect(memory()).toBeLessThan(400);
  }, 180_000);

  it("tells 1,000 watchers", async () => {
    const { json } = await requestOnce(target.connection, "GET", `${path}?limit=1`);
    const query = `watch=true&resourceVersion=${json.metadata.resourceVersion}&timeoutSeconds=110`;
    const streams = await Promise.all(
      Array.from({ length: 1000 }, () => openWatch(target.connection, `${path}?${query}`)),
    );
    expect(await create("news")).toBe(201);
    const seen = await Promise.all(streams.map((stream) => stream.next(60_000)));
    expect(new Set(seen.map(({ type, object }) => `${type} ${object.metadata.name}`))).toEqual(new Set(["ADDED news"]));
    for (const stream of streams) stream.close();
    expect((await requestOnce(target.connection, "GET", "/readyz")).text).toBe("ok");
  }, 120_000);

  it("keeps little for a watcher that never reads", async () => {
    const { connection } = target;
    const { json } = await requestOnce(connection, "GET", `${path}?limit=1`);
    const url = new URL(connection.url);
    const socket = connect({
      host: url.hostname,
      port: Number(url.port),
      ca: connection.certificateAuthority,
      cert: connection.certificate,
      key: connection.key,
    });
    socket.on("error", () => undefined);
    socket.pause();
    const query = `watch=true&resourceVersion=${json.metadata.resourceVersion}`;
    socket.write(`GET ${path}?${query} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
    const before = memory();
    // 40 MB of events; the socket's buffers hold far less.
    const text = "y".repeat(200_000);
    for (let round = 0; round < 200; round += 1) {
      const body = { metadata: { name: "big" }, data: { text: `${round}${text}` } };
      const answer = await requestOnce(connection, round === 0 ? "POST" : "PUT", round === 0 ? path : `${path}/big`, {
        body,
        agent,
      });
      expect(answer.status).toBeLessThan(300);
    }
    expect(memory() - before).toBeLessThan(200);
    socket.destroy();
    expect((await requestOnce(connection, "GET", "/readyz")).text).toBe("ok");
  }, 120_000);
});

function residentMiB({ pids }: Target): number {
  const kilobytes = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]));
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1024;
}
