import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  getCondition,
  handlerServerName,
  labels,
  nodeLabels,
  virtualMachineInstances as vmis,
  type VirtualMachineInstance,
} from "@polyvirt/api";
import { buildCustomResourceDefinitions } from "@polyvirt/api/crds";
import { customResourceDefinitions, events, nodes } from "@polyvirt/api/k8s";
import { PolyvirtError, silentLogger, systemClock } from "@polyvirt/core";
import { createApiServer, type ApiServer } from "@polyvirt/embedded";
import { registry } from "@polyvirt/hypervisor";
import { createCertificateAuthority, createKubeClient, issueCertificate, type KubeClient } from "@polyvirt/kube";
import type { DomainReason, DomainState } from "@polyvirt/protocol";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { composeVirtHandler } from "./compose.ts";
import { startLauncherDouble, type LauncherDouble } from "./testing/launcher-double.ts";
import { domainWith, NODE } from "./testing/objects.ts";

let folder: string;
let pods: string;
let server: ApiServer;
let client: KubeClient;
let stop: AbortController;
let running: Promise<unknown>;
let doubles: LauncherDouble[];
let counter = 0;

/** The agent of a node; agents share nothing but the API server. */
function runHandler(nodeName: string, signal: AbortSignal): Promise<void> {
  return composeVirtHandler({
    client,
    clock: systemClock,
    logger: silentLogger,
    nodeName,
    hostArchitecture: "amd64",
    console: { host: "127.0.0.1", port: 0, certificateDirectory: join(folder, "certificates") },
    hypervisors: registry,
    paths: {
      pods,
      state: join(folder, `state-${nodeName}`),
      devicePlugins: join(folder, "device-plugins"),
      kubelet: join(folder, "kubelet"),
      capabilities: join(folder, "capabilities"),
    },
  }).run(signal);
}

function startHandler(): void {
  stop = new AbortController();
  running = runHandler(NODE, stop.signal);
}

async function stopHandler(): Promise<void> {
  stop.abort();
  await running;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pv-"));
  pods = join(folder, "p");
  mkdirSync(pods);
  const authority = createCertificateAuthority("test");
  const pair = issueCertificate(authority, { commonName: handlerServerName, usage: "server", days: 1 });
  mkdirSync(join(folder, "certificates"));
  mkdirSync(join(folder, "capabilities"));
  writeFileSync(join(folder, "capabilities", "capabilities-arm64.json"), "{}");
  for (const [name, content] of Object.entries({
    "tls.crt": pair.certificate,
    "tls.key": pair.key,
    "ca.crt": authority.certificate,
  })) {
    writeFileSync(join(folder, "certificates", name), content);
  }
  server = createApiServer({ dataDir: join(folder, "api"), port: 0, logger: silentLogger });
  await server.start();
  client = createKubeClient({
    connection: server.connectionAs("admin", ["system:masters"]),
    clock: systemClock,
    logger: silentLogger,
  });
  for (const definition of buildCustomResourceDefinitions()) await client.create(customResourceDefinitions, definition);
  await client.create(nodes, { metadata: { name: NODE } });
  await eventually(() => client.list(vmis));
});
beforeEach(() => {
  doubles = [];
  startHandler();
});
afterEach(async () => {
  await stopHandler();
  await Promise.all(doubles.map((double) => double.kill()));
});
afterAll(async () => {
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const eventually = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 10_000, interval: 20 });

interface Guest {
  readonly name: string;
  readonly launcher: LauncherDouble;
  read(): Promise<VirtualMachineInstance>;
  status(): Promise<NonNullable<VirtualMachineInstance["status"]>>;
  tell(state: DomainState, reason?: DomainReason, message?: string): Promise<void>;
  reasons(): Promise<(string | undefined)[]>;
}

interface HandOver {
  readonly spec?: Partial<VirtualMachineInstance["spec"]>;
  /** The launcher opens its socket only after the hand-over. */
  readonly late?: boolean;
  readonly syncError?: Error;
  readonly node?: string;
}

/** A VMI as virt-controller hands it over, with its launcher. */
async function handOver({ spec = {}, late = false, syncError, node = NODE }: HandOver = {}): Promise<Guest> {
  const name = `g${counter++}`;
  const podUid = `pod-${name}`;
  const launch = async (): Promise<LauncherDouble> => {
    const made = await startLauncherDouble(pods, podUid);
    made.syncError = syncError;
    doubles.push(made);
    return made;
  };
  const early = late ? undefined : await launch();
  const created = await client.create(vmis, {
    metadata: {
      name,
      namespace: "default",
      labels: { [labels.nodeName]: node },
      finalizers: ["kubevirt.io/foregroundDeleteVirtualMachine"],
    },
    spec: { domain: { devices: {} }, ...spec },
  });
  const uid = created.metadata.uid ?? "";
  await client.patch(vmis, name, "default", {
    type: "merge",
    subresource: "status",
    body: { status: { phase: "Scheduled", nodeName: node, activePods: { [podUid]: node } } },
  });
  if (late) await systemClock.sleep(200);
  const double = early ?? (await launch());
  const read = () => client.get(vmis, name, "default");
  return {
    name,
    launcher: double,
    read,
    status: async () => (await read()).status ?? {},
    tell: (state, reason, message) => {
      const domain = domainWith(state, reason, message);
      return double.notify({ ...domain, ObjectMeta: { name, namespace: "default", uid } });
    },
    reasons: async () => {
      const { items } = await client.list(events, { namespace: "default" });
      return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason);
    },
  };
}

const phaseIs = (guest: Guest, phase: string) =>
  eventually(async () => expect((await guest.status()).phase).toBe(phase));

async function startGuest(spec: Partial<VirtualMachineInstance["spec"]> = {}): Promise<Guest> {
  const guest = await handOver({ spec });
  await eventually(async () => expect(guest.launcher.calls).toEqual(["sync"]));
  await guest.tell("Running");
  await phaseIs(guest, "Running");
  return guest;
}

describe("virt-handler on a real API server", () => {
  it("starts a guest whose launcher is ready, and one whose launcher comes later", async () => {
    for (const late of [false, true]) {
      const guest = await handOver({ late });
      await eventually(async () => expect(guest.launcher.calls).toEqual(["sync"]));
      await guest.tell("Running");
      await phaseIs(guest, "Running");
      await eventually(async () =>
        expect(await guest.reasons()).toEqual(expect.arrayContaining(["Created", "Started"])),
      );
    }
  });

  it("reports how guests end, and lets their launchers go", async () => {
    for (const [reason, phase] of [
      ["Shutdown", "Succeeded"],
      ["Crashed", "Failed"],
    ] as const) {
      const guest = await startGuest();
      await guest.tell("Shutoff", reason, `it ended by ${reason}`);
      await phaseIs(guest, phase);
      await eventually(async () => expect(guest.launcher.calls).toEqual(["sync", "delete"]));
    }
  });

  it("fails a guest whose launcher is killed", async () => {
    const guest = await startGuest();
    await guest.launcher.kill();
    await phaseIs(guest, "Failed");
    const status = await guest.status();
    expect(status.reason).toBe("LauncherLost");
    expect(getCondition(status, "Synchronized")?.message).toContain("the launcher's process has ended");
  });

  it("asks a guest to end when its VMI is deleted, and ends it when its time is over", async () => {
    const guest = await startGuest({ terminationGracePeriodSeconds: 1 });
    await client.delete(vmis, guest.name, "default");
    await eventually(async () => expect(guest.launcher.calls).toEqual(["sync", "shutdown"]));
    await eventually(async () => expect(guest.launcher.calls.slice(0, 3)).toEqual(["sync", "shutdown", "kill"]));
    await guest.tell("Shutoff", "Destroyed");
    await phaseIs(guest, "Failed");
  });

  it("leaves guests alone while it is restarted, and hears of them afterwards", async () => {
    const guest = await startGuest();
    await stopHandler();
    await systemClock.sleep(50);
    startHandler();
    await eventually(() => guest.tell("Paused", "User"));
    await eventually(async () => {
      expect(getCondition(await guest.status(), "Paused")).toMatchObject({ status: "True", reason: "PausedByUser" });
    });
    expect(guest.launcher.calls.filter((call) => call !== "sync")).toEqual([]);
  });

  it("knows after a restart that a guest ended meanwhile", async () => {
    const guest = await startGuest();
    await stopHandler();
    await guest.launcher.kill();
    startHandler();
    await phaseIs(guest, "Failed");
    expect((await guest.status()).reason).toBe("LauncherLost");
  });

  it("ends a launcher whose VMI vanished while it was away", async () => {
    const guest = await startGuest();
    await stopHandler();
    await client.patch(vmis, guest.name, "default", { type: "merge", body: { metadata: { finalizers: null } } });
    await client.delete(vmis, guest.name, "default");
    startHandler();
    await eventually(async () => expect(guest.launcher.calls.slice(1)).toEqual(["kill", "delete"]));
  });

  it("tries again when a start fails, and shows why", async () => {
    const guest = await handOver({ syncError: new PolyvirtError("StackBusy", "the disk is locked", { retry: true }) });
    await eventually(async () => {
      expect(getCondition(await guest.status(), "Synchronized")).toMatchObject({
        status: "False",
        reason: "SyncFailed",
        message: `start or update the machine of default/${guest.name}: the disk is locked`,
      });
    });
    expect((await guest.status()).phase).toBe("Scheduled");
    guest.launcher.syncError = undefined;
    await eventually(async () => expect(getCondition(await guest.status(), "Synchronized")).toBeUndefined());
    expect(await guest.reasons()).toContain("SyncFailed");
  });

  it("fails a guest that can never start", async () => {
    const guest = await handOver({ syncError: new PolyvirtError("StackBroken", "no such kernel", { retry: false }) });
    await phaseIs(guest, "Failed");
    const status = await guest.status();
    expect(status.reason).toBe("SyncFailed");
    expect(getCondition(status, "Synchronized")?.message).toContain("no such kernel");
    await eventually(async () => expect(guest.launcher.calls).toEqual(["sync", "delete"]));
  });

  it("lives beside the agent of another node, which may be of another version and go away", async () => {
    await client.create(nodes, { metadata: { name: "node-2" } });
    const other = new AbortController();
    const ended = runHandler("node-2", other.signal);
    const [here, there] = await Promise.all([startGuest(), handOver({ node: "node-2" })]);
    await eventually(async () => expect(there.launcher.calls).toEqual(["sync"]));
    await there.tell("Running");
    await phaseIs(there, "Running");
    other.abort();
    await ended;
    await there.launcher.kill();
    await here.tell("Paused", "User");
    await eventually(async () =>
      expect(getCondition(await here.status(), "Paused")).toMatchObject({ reason: "PausedByUser" }),
    );
    // Nobody reports on it any more; its node's agent finds out when it comes back.
    expect((await there.status()).phase).toBe("Running");
    const again = new AbortController();
    const endedAgain = runHandler("node-2", again.signal);
    await phaseIs(there, "Failed");
    again.abort();
    await endedAgain;
  });

  it("does not touch VMIs of other nodes", async () => {
    const guest = await startGuest();
    await client.patch(vmis, guest.name, "default", {
      type: "merge",
      subresource: "status",
      body: { status: { nodeName: "node-2" } },
    });
    await guest.tell("Shutoff", "Crashed");
    await systemClock.sleep(200);
    expect((await guest.status()).phase).toBe("Running");
  });

  it("says that the node takes guests, and takes it back when it stops", async () => {
    const label = async () => (await client.get(nodes, NODE)).metadata.labels?.[nodeLabels.schedulable];
    await eventually(async () => expect(await label()).toBe("true"));
    const { labels: found = {} } = (await client.get(nodes, NODE)).metadata;
    const guests = Object.keys(found).filter((name) => name.startsWith(nodeLabels.guestArchitecturePrefix));
    expect(guests.toSorted()).toEqual(["kubevirt.io/vm-arch-amd64", "kubevirt.io/vm-arch-arm64"]);
    await stopHandler();
    expect(await label()).toBe("false");
    startHandler();
    await eventually(async () => expect(await label()).toBe("true"));
  });
});
