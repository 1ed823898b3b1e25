import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { nodeLabels, virtualMachineInstances, type VirtualMachineInstance } from "@polyvirt/api";
import { configMaps, leases, nodes, pods, type Node, type Pod } from "@polyvirt/api/k8s";
import { systemClock } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { percentile, type Benchmark } from "./benchmark.ts";
import { repositoryRoot, withCluster, type BenchCluster } from "./cluster.ts";
import { commandLineOf, familyOf, peakMib, processorMs, proportionalMib } from "./process-use.ts";

const namespace = "default";
const fakeNodes = 20;
const perSecond = 10;
/** Enough to see whether the time of each grows with their number. */
const instances = 600;
const settleMs = 15_000;
/** Well below the time after which a node without news counts as lost. */
const heartbeatMs = 10_000;
const fakeLabel = { "bench.polyvirt.io/fake": "true" };

/**
 * What API server, scheduler, admission and virt-controller take for an instance when pods and guests cost nothing: nodes
 * without machines, on which a pod that is bound runs at once, and a guest at once after its hand-over. The yardstick is a
 * plain pod on the same nodes. Before that: how soon the cluster is there, and what it takes when it has nothing to do.
 */
export const benchmark: Benchmark = {
  name: "control-plane",
  summary: `${instances} instances at ${perSecond} a second on ${fakeNodes} nodes without machines; start and idle memory`,
  async run(report) {
    await withCluster(async (cluster) => {
      const { client } = cluster;
      cluster.polyvirt("down");
      const { servedMs, readyMs } = await startAgain(cluster);
      report({ name: "polyvirt up, until the API is served", value: servedMs, unit: "ms", budget: { atMost: 3000 } });
      report({ name: "polyvirt up, until the roles are ready", value: readyMs, unit: "ms" });
      await systemClock.sleep(settleMs);
      const { pid } = cluster;
      const idle = proportionalMib(familyOf(pid));
      report({ name: "PSS of cluster and roles, idle", value: idle, unit: "MiB", budget: { atMost: 200 } });

      const play = await playNodes(client);
      try {
        const plain = await createMany(client, play, "pod");
        const controller = familyOf(pid).find((one) =>
          commandLineOf(one).some((word) => word.endsWith("virt-controller.js")),
        );
        if (controller === undefined) throw new Error("virt-controller does not run");
        const before = await revision(client);
        const cpuBefore = { controller: processorMs(controller), cluster: processorMs(pid) };
        const ours = await createMany(client, play, "instance");
        const writes = (await revision(client)) - before;
        const each = (now: number, then: number): number => (now - then) / instances;
        report({ name: "plain pod, create → Running, median", value: percentile(plain, 0.5), unit: "ms" });
        report({
          name: "instance, create → Running, median",
          value: percentile(ours, 0.5),
          unit: "ms",
          budget: { atMost: 150 },
        });
        report({
          name: "instance, create → Running, 95 of 100",
          value: percentile(ours, 0.95),
          unit: "ms",
          budget: { atMost: 400 },
        });
        report({ name: "ratio", value: percentile(ours, 0.5) / percentile(plain, 0.5), unit: "ratio" });
        report({
          name: "last tenth over first tenth, median",
          value: percentile(ours.slice(-instances / 10), 0.5) / percentile(ours.slice(0, instances / 10), 0.5),
          unit: "ratio",
        });
        report({ name: "writes of each, with pod, events, node and guest", value: writes / instances, unit: "ratio" });
        report({
          name: "processor time of virt-controller, each",
          value: each(processorMs(controller), cpuBefore.controller),
          unit: "ms",
        });
        report({
          name: "processor time of the cluster process, each",
          value: each(processorMs(pid), cpuBefore.cluster),
          unit: "ms",
        });
        report({ name: "virt-controller, peak", value: peakMib(controller), unit: "MiB", budget: { atMost: 500 } });
      } finally {
        await play.stop();
      }
    });
  },
};

/** Starts a cluster that was up before, on a machine that has everything. */
async function startAgain({ client, dataDir }: BenchCluster): Promise<{ servedMs: number; readyMs: number }> {
  const started = performance.now();
  const child = spawn(join(repositoryRoot, "polyvirt"), ["up", "--data-dir", dataDir], { stdio: "ignore" });
  const exited = once(child, "exit");
  const isServed = (): Promise<boolean> =>
    client.request("GET", "/readyz").then(
      () => true,
      () => false,
    );
  while (!(await isServed())) await systemClock.sleep(10);
  const servedMs = performance.now() - started;
  const [code] = await exited;
  if (code !== 0) throw new Error(`polyvirt up ended with ${code}`);
  return { servedMs, readyMs: performance.now() - started };
}

/** Times from create to Running, in the order of creation. */
async function createMany(client: KubeClient, play: Play, kind: "pod" | "instance"): Promise<number[]> {
  const all: Promise<number>[] = [];
  for (let index = 0; index < instances; index += 1) {
    const name = `${kind}-${index}`;
    const began = performance.now();
    const running = play.running(`${kind}/${name}`);
    all.push(
      (async () => {
        await (kind === "pod"
          ? client.create(pods, plainPod(name))
          : client.create(virtualMachineInstances, instance(name)));
        return (await running) - began;
      })(),
    );
    await systemClock.sleep(1000 / perSecond);
  }
  return Promise.all(all);
}

function plainPod(name: string): Pod {
  return {
    metadata: { name, namespace, labels: fakeLabel },
    spec: { nodeSelector: fakeLabel, containers: [{ name: "main", image: "bench.local/none:1" }] },
  };
}

function instance(name: string): VirtualMachineInstance {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name, namespace },
    spec: { nodeSelector: fakeLabel, domain: { devices: {}, memory: { guest: "64Mi" } } },
  };
}

interface Play {
  /** The moment at which an object is seen as Running. */
  running(key: string): Promise<number>;
  stop(): Promise<void>;
}

/** Nodes, and for each the least of a kubelet and of a virt-handler. */
async function playNodes(client: KubeClient): Promise<Play> {
  const names = Array.from({ length: fakeNodes }, (_, index) => `fake-${index}`);
  await Promise.all(names.map((name) => makeNode(client, name)));
  const stop = new AbortController();
  const seen = new Map<string, () => void>();
  const faults: unknown[] = [];
  const work = [
    heartbeats(client, names, stop.signal),
    runPods(client, stop.signal, (key) => seen.get(key)?.()),
    runGuests(client, stop.signal, (key) => seen.get(key)?.()),
  ].map((task) => task.catch((error: unknown) => faults.push(error)));
  return {
    running: (key) =>
      new Promise((settle, fail) => {
        const limit = setTimeout(
          () => fail(new Error(`${key} is not Running after a minute; ${faults.join("; ")}`)),
          60_000,
        );
        seen.set(key, () => {
          clearTimeout(limit);
          seen.delete(key);
          settle(performance.now());
        });
      }),
    async stop() {
      stop.abort();
      await Promise.all(work);
    },
  };
}

async function makeNode(client: KubeClient, name: string): Promise<void> {
  const labels = {
    ...fakeLabel,
    [nodeLabels.schedulable]: "true",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    "kubernetes.io/hostname": name,
  };
  await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: {} });
  const plenty = { cpu: "1000", memory: "1000Gi", pods: "10000", "ephemeral-storage": "1000Gi" };
  const devices = Object.fromEntries(["kvm", "tun", "vhost-net"].map((it) => [`devices.kubevirt.io/${it}`, "10000"]));
  const capacity = { ...plenty, ...devices };
  const now = new Date().toISOString();
  const ready = {
    type: "Ready",
    status: "True",
    reason: "Fake",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  } as const;
  const status: Node["status"] = { capacity, allocatable: capacity, conditions: [ready] };
  await client.patch(nodes, name, undefined, { type: "merge", subresource: "status", body: { status } });
}

async function heartbeats(client: KubeClient, names: readonly string[], signal: AbortSignal): Promise<void> {
  const spec = (name: string) => ({ holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime() });
  const leaseNamespace = "kube-node-lease";
  while (!signal.aborted) {
    for (const name of names) {
      const lease = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name, namespace: leaseNamespace },
      };
      await client.apply(leases, { ...lease, spec: spec(name) }, { fieldManager: "bench", force: true });
    }
    await systemClock.sleep(heartbeatMs, signal).catch(() => undefined);
  }
}

function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}

async function runPods(client: KubeClient, signal: AbortSignal, running: (key: string) => void): Promise<void> {
  const started = new Set<string>();
  for await (const { type, object } of client.watch(pods, { namespace, signal })) {
    if (type === "BOOKMARK" || type === "DELETED") continue;
    const { name = "", uid = "" } = object.metadata;
    if (object.status?.phase === "Running") running(`pod/${name}`);
    if (object.spec.nodeName === undefined || started.has(uid)) continue;
    started.add(uid);
    const startedAt = new Date().toISOString();
    const containerStatuses = object.spec.containers.map((container) => ({
      name: container.name,
      image: container.image,
      imageID: "",
      ready: true,
      restartCount: 0,
      state: { running: { startedAt } },
    }));
    const conditions = [{ type: "Ready", status: "True" }];
    const status = { phase: "Running", podIP: "192.0.2.1", containerStatuses, conditions };
    await client.patch(pods, name, namespace, { type: "strategic", subresource: "status", body: { status } });
  }
}

async function runGuests(client: KubeClient, signal: AbortSignal, running: (key: string) => void): Promise<void> {
  for await (const { type, object } of client.watch(virtualMachineInstances, { namespace, signal })) {
    if (type === "BOOKMARK" || type === "DELETED") continue;
    const { name = "" } = object.metadata;
    if (object.status?.phase === "Running") running(`instance/${name}`);
    if (object.status?.phase !== "Scheduled") continue;
    const body = { status: { phase: "Running" } };
    await client.patch(virtualMachineInstances, name, namespace, { type: "merge", subresource: "status", body });
  }
}

/** Every write of the cluster takes one revision. */
async function revision(client: KubeClient): Promise<number> {
  const { metadata } = await client.list(configMaps, { namespace, limit: 1 });
  return Number(metadata.resourceVersion);
}
