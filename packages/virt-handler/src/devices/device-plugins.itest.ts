import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import {
  createGrpcClient,
  createGrpcServer,
  devicePluginV1beta1,
  grpcService,
  openServerStream,
  type GrpcServer,
} from "@polyvirt/protocol/device-plugin";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runDevicePlugins } from "./device-plugins.ts";
import type { DeviceSource, OfferedDevice } from "./device-source.ts";

let directory: string;
let registered: { endpoint: string; resourceName: string; version: string }[];
let kubelet: GrpcServer;
let devices: OfferedDevice[];
let sources: DeviceSource[];
let stop: AbortController;
let running: Promise<void>;
const clock = createManualClock();

async function startKubelet(): Promise<void> {
  kubelet = createGrpcServer([
    grpcService(devicePluginV1beta1.Registration, {
      register: async ({ endpoint, resourceName, version }) => {
        registered.push({ endpoint, resourceName, version });
        return {};
      },
    }),
  ]);
  await kubelet.listen(`unix:${directory}/kubelet.sock`);
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "pv-plugins-"));
  registered = [];
  devices = [{ id: "w0", healthy: true, numaNode: 1 }];
  sources = [
    {
      resourceName: "example.org/widget",
      list: () => [...devices],
      grant: (ids) => ({ nodes: ["/dev/widget"], environment: { WIDGET: ids.join() } }),
    },
  ];
  await startKubelet();
  stop = new AbortController();
  running = runDevicePlugins({ clock, logger: silentLogger, directory, sources: () => sources }, stop.signal);
  await vi.waitUntil(() => registered.length === 1);
});
afterEach(async () => {
  stop.abort();
  await running;
  await kubelet.close(0);
  rmSync(directory, { recursive: true });
});

const address = (): string => `unix:${directory}/${registered.at(-1)?.endpoint}`;

describe("runDevicePlugins", () => {
  it("registers, tells of devices and of every change of theirs", async () => {
    expect(registered).toEqual([
      { endpoint: "kubevirt-example.org-widget.sock", resourceName: "example.org/widget", version: "v1beta1" },
    ]);
    const { listAndWatch } = devicePluginV1beta1.DevicePlugin.method;
    const stream = openServerStream(listAndWatch, address(), {}, stop.signal)[Symbol.asyncIterator]();
    const next = async () => (await stream.next()).value?.devices.map(({ ID, health }) => `${ID} ${health}`);
    expect(await next()).toEqual(["w0 Healthy"]);
    devices = [{ id: "w0", healthy: false }];
    const change = next();
    await clock.advance(2_000);
    expect(await change).toEqual(["w0 Unhealthy"]);
  });

  it("says what a container needs", async () => {
    const client = createGrpcClient(devicePluginV1beta1.DevicePlugin, address(), { timeoutMs: 5_000 });
    const { containerResponses } = await client.allocate({ containerRequests: [{ devicesIds: ["w0"] }] });
    client.close();
    expect(containerResponses).toMatchObject([
      {
        envs: { WIDGET: "w0" },
        devices: [{ hostPath: "/dev/widget", containerPath: "/dev/widget", permissions: "mrw" }],
      },
    ]);
  });

  it("registers again with a kubelet that was restarted and has cleared its folder", async () => {
    await kubelet.close(0);
    rmSync(directory, { recursive: true });
    await clock.advance(2_000);
    expect(registered).toHaveLength(1);
    mkdirSync(directory);
    await startKubelet();
    await vi.waitFor(async () => {
      await clock.advance(2_000);
      expect(registered).toHaveLength(2);
    });
    expect(existsSync(join(directory, "kubevirt-example.org-widget.sock"))).toBe(true);
    await clock.advance(10_000);
    expect(registered).toHaveLength(2);
  });

  it("starts over when the same resource means other devices", async () => {
    sources = sources.map((source) => ({ ...source, list: () => [{ id: "other", healthy: true }] }));
    await vi.waitFor(async () => {
      await clock.advance(2_000);
      expect(registered).toHaveLength(2);
    });
  });

  it("takes back what is no longer wanted", async () => {
    sources = [];
    await vi.waitFor(async () => {
      await clock.advance(2_000);
      expect(existsSync(join(directory, "kubevirt-example.org-widget.sock"))).toBe(false);
    });
  });
});
