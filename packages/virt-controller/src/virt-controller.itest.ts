import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  annotations,
  finalizers,
  getCondition,
  kubeVirts,
  labels,
  nodeLabels,
  unpausedReadinessGate,
  virtualMachineInstances as vmis,
  type VirtualMachineInstance,
} from "@polyvirt/api";
import { buildCustomResourceDefinitions } from "@polyvirt/api/crds";
import {
  customResourceDefinitions,
  events,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  type Pod,
} from "@polyvirt/api/k8s";
import { hasCode, silentLogger, systemClock } from "@polyvirt/core";
import { createApiServer, type ApiServer } from "@polyvirt/embedded";
import { registry } from "@polyvirt/hypervisor";
import { createKubeClient, type KubeClient } from "@polyvirt/kube";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { composeVirtController } from "./compose.ts";

let folder: string;
let server: ApiServer;
let client: KubeClient;
let stop: AbortController;
let running: Promise<unknown>;

function startController(identity: string): void {
  stop = new AbortController();
  running = composeVirtController({
    client,
    clock: systemClock,
    logger: silentLogger,
    hypervisors: registry,
    launcherImage: "polyvirt.local/virt-launcher-qemu:test",
    hostArchitecture: "amd64",
    namespace: "kubevirt",
    identity,
  })
    .run(stop.signal)
    .catch((error: unknown) => error);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "polyvirt-controller-"));
  server = createApiServer({ dataDir: folder, port: 0, logger: silentLogger });
  await server.start();
  client = createKubeClient({
    connection: server.connectionAs("admin", ["system:masters"]),
    clock: systemClock,
    logger: silentLogger,
  });
  for (const definition of buildCustomResourceDefinitions()) await client.create(customResourceDefinitions, definition);
  await client.create(namespaces, { metadata: { name: "kubevirt" } });
  await eventually(async () =>
    client.create(kubeVirts, {
      metadata: { name: "kubevirt", namespace: "kubevirt" },
      spec: { configuration: { developerConfiguration: { useEmulation: true } } },
    }),
  );
  startController("first");
});
afterAll(async () => {
  stop.abort();
  await running;
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const eventually = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 15_000, interval: 30 });

async function createVmi(name: string, spec: Partial<VirtualMachineInstance["spec"]> = {}) {
  return client.create(vmis, {
    metadata: { name, namespace: "default" },
    spec: { architecture: "amd64", domain: { devices: {}, memory: { guest: "64Mi" } }, ...spec },
  });
}

const read = (name: string) => client.get(vmis, name, "default");

async function podOf(name: string): Promise<Pod> {
  const { items } = await client.list(pods, { namespace: "default", labelSelector: `vmi.kubevirt.io/id=${name}` });
  const [pod] = items;
  if (pod === undefined) throw new Error(`${name} has no pod yet`);
  return pod;
}

/** Plays scheduler and kubelet. */
async function report(pod: Pod, phase: "Running" | "Failed" | "Succeeded", exitCode = 0): Promise<void> {
  const { name = "", namespace } = pod.metadata;
  if (pod.spec.nodeName === undefined) {
    await client.createSubresource(
      pods,
      { name, namespace: "default", subresource: "binding" },
      { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { kind: "Node", name: "node-1" } },
    );
  }
  const finishedAt = new Date(Date.now() - 60_000).toISOString();
  const state = phase === "Running" ? { running: {} } : { terminated: { exitCode, finishedAt } };
  const status = { name: "compute", ready: phase === "Running", restartCount: 0, image: "x", imageID: "", state };
  await client.patch(pods, name, namespace, {
    type: "merge",
    subresource: "status",
    body: { status: { phase, containerStatuses: [status] } },
  });
}

async function setPhase(name: string, phase: "Running" | "Succeeded"): Promise<void> {
  await client.patch(vmis, name, "default", { type: "merge", subresource: "status", body: { status: { phase } } });
}

async function reasonsOf(name: string): Promise<(string | undefined)[]> {
  const { items } = await client.list(events, { namespace: "default" });
  return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason);
}

describe("virt-controller on a real API server", () => {
  it("takes a VMI from its creation to its removal", async () => {
    await createVmi("whole");
    const pod = await eventually(() => podOf("whole"));
    await eventually(async () => expect((await read("whole")).status?.phase).toBe("Scheduling"));
    expect((await read("whole")).metadata.finalizers).toContain(finalizers.virtualMachineInstance);
    await report(pod, "Running");
    await eventually(async () => {
      const { metadata, status } = await read("whole");
      expect(status).toMatchObject({ phase: "Scheduled", nodeName: "node-1" });
      expect(status?.activePods).toEqual({ [pod.metadata.uid ?? ""]: "node-1" });
      expect(metadata.labels?.[labels.nodeName]).toBe("node-1");
    });
    await setPhase("whole", "Running");
    await eventually(async () => {
      expect(getCondition((await podOf("whole")).status, unpausedReadinessGate)?.status).toBe("True");
    });
    await client.delete(vmis, "whole", "default");
    await eventually(async () => expect((await podOf("whole")).metadata.deletionTimestamp).toBeDefined());
    expect((await read("whole")).metadata.finalizers).toContain(finalizers.virtualMachineInstance);
    await report(await podOf("whole"), "Succeeded");
    await setPhase("whole", "Succeeded");
    await eventually(async () => expect(read("whole")).rejects.toMatchObject({ code: "KubeNotFound" }));
    expect(await reasonsOf("whole")).toEqual(
      expect.arrayContaining(["SuccessfulCreate", "SuccessfulHandOver", "SuccessfulDelete"]),
    );
  });

  it("keeps a guest's state in a claim, and makes no pod before the claim has a volume", async () => {
    const devices = { tpm: { persistent: true }, autoattachVSOCK: true };
    await createVmi("kept", { domain: { devices, memory: { guest: "64Mi" } } });
    const claim = await eventually(async () => {
      const selector = { namespace: "default", labelSelector: "persistent-state-for=kept" };
      const [found] = (await client.list(persistentVolumeClaims, selector)).items;
      if (found === undefined) throw new Error("no claim yet");
      return found;
    });
    await eventually(async () => {
      const condition = getCondition((await read("kept")).status, "Synchronized");
      expect(condition).toMatchObject({ status: "False", reason: "PersistentStateClaimPending" });
      expect(condition?.message).toContain("has no storage class");
    });
    await expect(podOf("kept")).rejects.toThrow("kept has no pod yet");
    await client.patch(persistentVolumeClaims, claim.metadata.name ?? "", "default", {
      type: "merge",
      subresource: "status",
      body: { status: { phase: "Bound" } },
    });
    const pod = await eventually(() => podOf("kept"));
    expect(pod.spec.volumes).toContainEqual({
      name: "vm-state",
      persistentVolumeClaim: { claimName: claim.metadata.name },
    });
    await report(pod, "Running");
    await eventually(async () => {
      const { status } = await read("kept");
      expect(status?.volumeStatus).toMatchObject([{ name: claim.metadata.name }]);
      expect(status?.VSOCKCID).toBeGreaterThanOrEqual(3);
    });
  });

  it("ends a VMI whose launcher fails before the hand-over", async () => {
    await createVmi("early");
    await report(await eventually(() => podOf("early")), "Failed", 3);
    await eventually(async () => {
      const { status } = await read("early");
      expect(status).toMatchObject({ phase: "Failed", reason: "LauncherPodFailed" });
      expect(getCondition(status, "Synchronized")?.message).toContain("exit code 3");
    });
  });

  it("ends a VMI whose pod and node are both silent", async () => {
    await createVmi("silent");
    const pod = await eventually(() => podOf("silent"));
    await report(pod, "Running");
    await eventually(async () => expect((await read("silent")).status?.phase).toBe("Scheduled"));
    await report(await podOf("silent"), "Failed", 137);
    await eventually(async () => expect((await read("silent")).status).toMatchObject({ phase: "Failed" }));
  });

  it("fails a VMI at once whose pod can never be made, and says why", async () => {
    await createVmi("odd", { volumes: [{ name: "v", memoryDump: { claimName: "c" } }] });
    await eventually(async () => {
      const { status } = await read("odd");
      expect(status?.phase).toBe("Failed");
      expect(getCondition(status, "Synchronized")).toMatchObject({ status: "False", reason: "FailedCreate" });
    });
    await eventually(async () => expect(await reasonsOf("odd")).toContain("FailedCreate"));
    await expect(podOf("odd")).rejects.toThrow("no pod");
  });

  it("waits for a claim and goes on when it comes", async () => {
    await createVmi("claimed", { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "later" } }] });
    await eventually(async () => {
      expect(getCondition((await read("claimed")).status, "Synchronized")?.reason).toBe("FailedPvcNotFound");
    });
    await client.request("POST", "/api/v1/namespaces/default/persistentvolumeclaims", {
      json: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "later" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    });
    await eventually(() => podOf("claimed"));
    // What virt-handler has to know about the claim, because it may not look at claims.
    await eventually(async () =>
      expect((await read("claimed")).status?.volumeStatus).toMatchObject([
        { name: "v", persistentVolumeClaimInfo: { claimName: "later", accessModes: ["ReadWriteOnce"] } },
      ]),
    );
  });

  it("sends no guests to a node whose agent has fallen silent", async () => {
    await client.create(nodes, {
      metadata: {
        name: "silent-node",
        labels: { [nodeLabels.schedulable]: "true" },
        annotations: { [annotations.heartbeat]: new Date(Date.now() - 3_600_000).toISOString() },
      },
    });
    await eventually(async () => {
      const { labels: found = {} } = (await client.get(nodes, "silent-node")).metadata;
      expect(found[nodeLabels.schedulable]).toBe("false");
    });
    await eventually(async () => {
      const { items } = await client.list(events, { namespace: "default" });
      expect(items.map(({ reason }) => reason)).toContain("NodeUnresponsive");
    });
    await client.delete(nodes, "silent-node");
  });

  it("does not take a stranger's pod for its own", async () => {
    const vmi = await createVmi("victim");
    const pod = await eventually(() => podOf("victim"));
    await client.create(pods, {
      metadata: {
        name: "impostor",
        namespace: "default",
        labels: {
          "kubevirt.io": "virt-launcher",
          "kubevirt.io/created-by": vmi.metadata.uid ?? "",
          ...pod.metadata.labels,
        },
      },
      spec: { containers: [{ name: "compute", image: "x" }] },
    });
    await report(await client.get(pods, "impostor", "default"), "Running");
    await report(pod, "Running");
    await eventually(async () => expect((await read("victim")).status?.phase).toBe("Scheduled"));
    expect(Object.keys((await read("victim")).status?.activePods ?? {})).toEqual([pod.metadata.uid]);
  });

  it("makes one pod for each VMI, whoever leads and however often it is restarted", async () => {
    stop.abort();
    await running;
    for (let index = 0; index < 20; index++) await createVmi(`many-${index}`);
    startController("second");
    await eventually(() => podOf("many-3"));
    stop.abort();
    await running;
    startController("third");
    await eventually(async () => {
      const { items } = await client.list(vmis, { namespace: "default" });
      const phases = items
        .filter(({ metadata }) => metadata.name?.startsWith("many-"))
        .map(({ status }) => status?.phase);
      expect(phases).toEqual(Array.from({ length: 20 }, () => "Scheduling"));
    });
    const { items } = await client.list(pods, { namespace: "default" });
    const owners = items
      .filter(({ metadata }) => metadata.name?.startsWith("virt-launcher-many-"))
      .map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
    expect(new Set(owners).size).toBe(20);
    expect(owners).toHaveLength(20);
  });

  it("survives what others do to its pods", async () => {
    await createVmi("robbed");
    const pod = await eventually(() => podOf("robbed"));
    await eventually(async () => expect((await read("robbed")).status?.phase).toBe("Scheduling"));
    await client.delete(pods, pod.metadata.name ?? "", "default", { gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!hasCode(error, "KubeNotFound")) throw error;
    });
    await eventually(async () => expect((await read("robbed")).status?.phase).toBe("Failed"));
  });
});
