import { get } from "node:http";
import { describe, expect, it } from "vitest";
import { startHealthServer } from "./health-server.ts";

const statusOf = (port: number, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });

describe("startHealthServer", () => {
  it("tells health from readiness", async () => {
    let ready = false;
    const server = await startHealthServer({ host: "127.0.0.1", port: 0, isReady: () => ready });
    const ask = () => Promise.all(["/healthz", "/readyz", "/other"].map((path) => statusOf(server.port, path)));
    expect(await ask()).toEqual([200, 503, 404]);
    ready = true;
    expect(await ask()).toEqual([200, 200, 404]);
    await server.close();
  });

  it("says which address it could not take", async () => {
    const server = await startHealthServer({ host: "127.0.0.1", port: 0, isReady: () => true });
    await expect(
      startHealthServer({ host: "127.0.0.1", port: server.port, isReady: () => true }),
    ).rejects.toMatchObject({ code: "KubeHealthPortTaken" });
    await server.close();
  });
});
