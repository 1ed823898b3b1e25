import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { PolyvirtError, silentLogger } from "@polyvirt/core";
import type { NetworkChange, ProcessNetwork } from "@polyvirt/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { POD_UID, vmiWith } from "../testing/objects.ts";
import { createGuestNetwork, type GuestNetwork, type LauncherProcess } from "./guest-network.ts";
import { openNetworkRecords } from "./network-records.ts";

const launcher: LauncherProcess = { identity: { pid: 7, startTime: "1", bootId: "b" }, uid: 107, gid: 107 };
const vmi: VirtualMachineInstance = {
  ...vmiWith(),
  spec: { domain: { devices: { interfaces: [{ name: "net", bridge: {} }] } }, networks: [{ name: "net", pod: {} }] },
};

/** A pod's network that only remembers. */
class FakeNetwork implements ProcessNetwork {
  readonly changes: NetworkChange[] = [];
  id = "4:100";
  links = ["lo", "eth0"];
  failure: Error | undefined;
  open = 0;

  async query(words: readonly string[]): Promise<unknown> {
    if (words[0] === "link") return this.links.map((ifname) => ({ ifname }));
    if (words[0] !== "addr") return [{ dst: "default", gateway: "10.1.0.1", dev: "eth0" }];
    const addr_info = [{ local: "10.1.0.5", prefixlen: 16, scope: "global" }];
    return this.links.map((ifname) => ({ ifname, mtu: 1500, address: "02:00:00:00:00:05", addr_info }));
  }

  async configure(change: NetworkChange): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.changes.push(change);
  }

  close(): void {
    this.open--;
  }
}

let folder: string;
let network: FakeNetwork;
let granted: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pv-"));
  network = new FakeNetwork();
  granted = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

/** As after a restart: nothing is remembered but what is on disk. */
function start(openNetwork?: () => ProcessNetwork): GuestNetwork {
  return createGuestNetwork({
    records: openNetworkRecords(folder),
    logger: silentLogger,
    openNetwork:
      openNetwork ??
      (() => {
        network.open++;
        return network;
      }),
    grantTun: () => void granted++,
  });
}

describe("prepare", () => {
  it("changes the pod's network once, also over a restart", async () => {
    const [first] = await start().prepare(vmi, POD_UID, launcher);
    expect(first).toMatchObject({ name: "net", macAddress: "02:00:00:00:00:05", podAddresses: ["10.1.0.5"] });
    network.links = ["lo", "eth0", "eth0-nic", "k6t-eth0", "tap0"];
    expect(await start().prepare(vmi, POD_UID, launcher)).toEqual([first]);
    expect(network.changes).toHaveLength(1);
    expect(granted).toBe(1);
    expect(network.open).toBe(0);
  });

  it("begins again with what it found first when it was interrupted", async () => {
    network.failure = new Error("killed");
    await expect(start().prepare(vmi, POD_UID, launcher)).rejects.toThrow("killed");
    expect(network.open).toBe(0);
    network.failure = undefined;
    network.links = ["lo", "eth0-nic"];
    const [prepared] = await start().prepare(vmi, POD_UID, launcher);
    expect(prepared?.podAddresses).toEqual(["10.1.0.5"]);
    expect(network.changes.map(({ commands }) => commands.split("\n")[0])).toEqual([
      "link set eth0-nic down",
      "link set eth0 down",
    ]);
  });

  it("looks at another network of the same pod anew", async () => {
    await start().prepare(vmi, POD_UID, launcher);
    network.id = "4:200";
    await start().prepare(vmi, POD_UID, launcher);
    expect(network.changes).toHaveLength(2);
  });

  it("forgets a pod that is over", async () => {
    const handler = start();
    await handler.prepare(vmi, POD_UID, launcher);
    handler.forget(POD_UID);
    await handler.prepare(vmi, POD_UID, launcher);
    expect(network.changes).toHaveLength(2);
  });

  it("leaves a pod alone that shares the machine's network", async () => {
    const shared = start(() => {
      throw new PolyvirtError("HostNetworkShared", "configure the network", { retry: false });
    });
    expect(await shared.prepare(vmi, POD_UID, launcher)).toEqual([]);
    expect(granted).toBe(0);
  });

  it("has nothing to do for guests without an interface, and for launchers that cannot be seen", async () => {
    expect(await start().prepare(vmiWith(), POD_UID, launcher)).toEqual([]);
    expect(await start().prepare(vmi, POD_UID, undefined)).toEqual([]);
    expect(network.changes).toEqual([]);
  });
});
