import { leases, nodes, pods, type Pod } from "@polyvirt/api/k8s";
import { silentLogger } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeKubeClient } from "../testing/fake-kube-client.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { composeControllers } from "./compose.ts";

let clock: ManualClock;
let client: FakeKubeClient;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  clock = new ManualClock();
  client = new FakeKubeClient(() => clock.now());
  stop = new AbortController();
  await client.create(nodes, { metadata: { name: "n" }, status: { conditions: [{ type: "Ready", status: "True" }] } });
  const renewTime = new Date(clock.now()).toISOString();
  await client.create(leases, { metadata: { name: "n", namespace: "kube-node-lease" }, spec: { renewTime } });
  running = composeControllers({ client, clock, logger: silentLogger }).run(stop.signal);
  await clock.advance(0);
});
afterEach(async () => {
  stop.abort();
  await clock.advance(0);
  await running;
});

async function createPod(name: string, tolerationSeconds: number | undefined): Promise<Pod> {
  const toleration = {
    key: "node.kubernetes.io/unreachable",
    operator: "Exists" as const,
    effect: "NoExecute" as const,
  };
  return client.create(pods, {
    metadata: { name, namespace: "default" },
    spec: {
      containers: [{ name: "c" }],
      nodeName: "n",
      tolerations: [tolerationSeconds === undefined ? toleration : { ...toleration, tolerationSeconds }],
    },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  });
}

async function beat(): Promise<void> {
  const body = { spec: { renewTime: new Date(clock.now()).toISOString() } };
  await client.patch(leases, "n", "kube-node-lease", { type: "merge", body });
  await clock.advance(0);
}

const readiness = async (): Promise<string | undefined> =>
  (await client.get(nodes, "n")).status?.conditions?.find(({ type }) => type === "Ready")?.status;
const taints = async (): Promise<string[]> => ((await client.get(nodes, "n")).spec?.taints ?? []).map(({ key }) => key);
const isGoing = async (name: string): Promise<boolean> =>
  (await client.get(pods, name, "default")).metadata.deletionTimestamp !== undefined;

describe("a node that stops", () => {
  it("is not ready after a while, and its pods are evicted after their toleration", async () => {
    await createPod("patient", 300);
    await createPod("hasty", 10);
    await createPod("daemon", undefined);
    await clock.advance(30_000);
    expect(await readiness()).toBe("True");
    await clock.advance(12_000);
    expect(await readiness()).toBe("Unknown");
    expect(await taints()).toEqual(["node.kubernetes.io/unreachable", "node.kubernetes.io/unreachable"]);
    expect((await client.get(pods, "patient", "default")).status?.conditions?.[0]?.status).toBe("False");
    expect(await isGoing("hasty")).toBe(false);
    await clock.advance(11_000);
    expect(await isGoing("hasty")).toBe(true);
    expect(await isGoing("patient")).toBe(false);
    await clock.advance(300_000);
    expect(await isGoing("patient")).toBe(true);
    expect(await isGoing("daemon")).toBe(false);
  });

  it("keeps its pods when it comes back in time", async () => {
    await createPod("patient", 300);
    await clock.advance(50_000);
    expect(await readiness()).toBe("Unknown");
    await beat();
    const body = { status: { conditions: [{ type: "Ready", status: "True" }] } };
    await client.patch(nodes, "n", undefined, { type: "strategic", subresource: "status", body });
    for (let seconds = 0; seconds < 400; seconds += 10) {
      await beat();
      await clock.advance(10_000);
    }
    expect(await taints()).toEqual([]);
    expect(await isGoing("patient")).toBe(false);
  });

  it("leaves no pods behind when it is deleted", async () => {
    await createPod("stranded", undefined);
    await client.delete(nodes, "n");
    await clock.advance(39_000);
    expect((await client.list(pods)).items.length).toBe(1);
    await clock.advance(2_000);
    expect((await client.list(pods)).items).toEqual([]);
  });
});
