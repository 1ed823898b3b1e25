import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import {
  deployments,
  events,
  nodes,
  pods,
  replicaSets,
  secrets,
  type Container,
  type Deployment,
  type Pod,
  type PodSpec,
} from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { composeControllers } from "../controllers/compose.ts";
import { composeScheduler } from "../scheduler/compose.ts";
import { FakeKubeClient } from "../testing/fake-kube-client.ts";
import { composeNode } from "./compose.ts";

let base: string;
let client: FakeKubeClient;
let running: { stop: AbortController; done: Promise<unknown> }[];

beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), "kubelet-"));
  client = new FakeKubeClient();
  running = [];
  const images = { "test/shell:1": { command: ["/bin/sh", "-c"] } };
  fs.writeFileSync(path.join(base, "images.json"), JSON.stringify({ images }));
});

afterEach(async () => {
  for (const { metadata } of (await client.list(pods)).items) {
    await client.delete(pods, metadata.name ?? "", metadata.namespace, { gracePeriodSeconds: 0 }).catch(() => {});
  }
  await vi.waitUntil(() => fs.readdirSync(path.join(base, "node/runtime")).length === 0, 20_000);
  await stopAll();
  fs.rmSync(base, { recursive: true, force: true });
});

async function stopAll(): Promise<void> {
  for (const { stop, done } of running.splice(0)) {
    stop.abort();
    await done;
  }
}

function start(component: { run(signal: AbortSignal): Promise<void> }): void {
  const stop = new AbortController();
  running.push({ stop, done: component.run(stop.signal) });
}

function startNode(): void {
  start(
    composeNode(
      {
        name: "node-1",
        index: 1,
        nodesOnMachine: 1,
        directory: path.join(base, "node"),
        podNetwork: "127.101",
        imageCatalogue: path.join(base, "images.json"),
        imageStore: path.join(base, "oci"),
        apiServer: { host: "127.0.0.1", port: 6443 },
        maskedDirectories: [base],
        visiblePaths: [],
        version: "0.1.0",
      },
      { client, clock: systemClock, logger: silentLogger },
    ),
  );
}

function podOf(name: string, spec: Partial<PodSpec> & { containers: Container[] }): Pod {
  return {
    metadata: { name, namespace: "default" },
    spec: { terminationGracePeriodSeconds: 1, nodeName: "node-1", ...spec },
  };
}

const shell = (script: string, more: Partial<Container> = {}): Container => ({
  name: "main",
  image: "test/shell:1",
  args: [script],
  ...more,
});

async function podNamed(name: string): Promise<Pod> {
  return client.get(pods, name, "default");
}

async function waitForPhase(name: string, phase: string): Promise<Pod> {
  return vi.waitFor(async () => {
    const pod = await podNamed(name);
    expect(pod.status?.phase).toBe(phase);
    return pod;
  }, 10_000);
}

function logOf(pod: Pod, container = "main", attempt = 0): string {
  const file = path.join(base, "node/logs", pod.metadata.uid ?? "", container, `${attempt}.log`);
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
}

describe("kubelet with real processes", () => {
  it("runs a Deployment's pod, and ends it with the Deployment", async () => {
    startNode();
    start(composeScheduler({ client, clock: systemClock, logger: silentLogger }));
    start(composeControllers({ client, clock: systemClock, logger: silentLogger }));
    const labels = { app: "demo" };
    const deployment: Deployment = {
      metadata: { name: "demo", namespace: "default" },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { terminationGracePeriodSeconds: 1, containers: [shell("echo hello; exec sleep 1000")] },
        },
      },
    };
    await client.create(deployments, deployment);
    await vi.waitFor(async () => {
      const { status } = await client.get(deployments, "demo", "default");
      expect(status).toMatchObject({ readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 });
    }, 15_000);
    const { items } = await client.list(pods);
    expect(items.map(({ spec }) => spec.nodeName)).toEqual(["node-1", "node-1"]);
    expect(new Set(items.map(({ status }) => status?.podIP)).size).toBe(2);
    for (const pod of items) await vi.waitFor(() => expect(logOf(pod)).toMatch(/^\S+ stdout F hello\n$/));
    const node = await client.get(nodes, "node-1");
    expect(node.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    // There is no garbage collector here.
    await client.delete(deployments, "demo", "default");
    for (const { metadata } of (await client.list(replicaSets)).items) {
      await client.delete(replicaSets, metadata.name ?? "", metadata.namespace);
    }
  });

  it("gives a pod its volumes, environment, token and address", async () => {
    startNode();
    await client.create(secrets, {
      metadata: { name: "s", namespace: "default" },
      data: { key: Buffer.from("hidden").toString("base64") },
    });
    const script = [
      "cat /secret/key; echo",
      "cat /var/run/secrets/kubernetes.io/serviceaccount/token; echo",
      "echo $GREETING $POD_IP",
      "echo data > /scratch/file; cat /scratch/file",
      "hostname; ls /proc | grep -c '^[0-9]*$'",
      `ls ${base} | wc -l`,
      "exit 0",
    ].join("\n");
    const pod = await client.create(
      pods,
      podOf("volumes", {
        restartPolicy: "Never",
        volumes: [
          { name: "secret", secret: { secretName: "s" } },
          { name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
          { name: "scratch", emptyDir: {} },
        ],
        containers: [
          shell(script, {
            env: [
              { name: "WHO", value: "world" },
              { name: "GREETING", value: "hello $(WHO)" },
              { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
            ],
            volumeMounts: [
              { name: "secret", mountPath: "/secret" },
              { name: "token", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
              { name: "scratch", mountPath: "/scratch" },
            ],
          }),
        ],
      }),
    );
    const done = await waitForPhase("volumes", "Succeeded");
    const lines = logOf(pod)
      .split("\n")
      .map((line) => line.split(" ").slice(3).join(" "));
    expect(lines.slice(0, 5)).toEqual(["hidden", "fake-token", `hello world ${done.status?.podIP}`, "data", "volumes"]);
    expect(Number(lines[5])).toBeLessThan(6);
    expect(lines[6]).toBe("0");
  });

  it("restarts a container that is killed, and reports why it ended", async () => {
    startNode();
    await client.create(pods, podOf("restart", { containers: [shell("exec sleep 1000")] }));
    await waitForPhase("restart", "Running");
    const pid = initPid(await podNamed("restart"), 0);
    process.kill(pid, "SIGKILL");
    await vi.waitFor(async () => {
      const [status] = (await podNamed("restart")).status?.containerStatuses ?? [];
      expect(status).toMatchObject({
        restartCount: 1,
        ready: true,
        lastState: { terminated: { exitCode: 137, reason: "Error" } },
      });
    }, 10_000);
  });

  it("finds its pods again after a restart, by identity", async () => {
    startNode();
    await client.create(pods, podOf("stays", { containers: [shell("exec sleep 1000")] }));
    const before = await waitForPhase("stays", "Running");
    const pid = initPid(before, 0);
    await stopAll();
    startNode();
    await systemClock.sleep(500);
    const after = await podNamed("stays");
    expect(after.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, ready: true });
    expect(initPid(after, 0)).toBe(pid);
    process.kill(pid, "SIGKILL");
    await vi.waitFor(
      async () => expect((await podNamed("stays")).status?.containerStatuses?.[0]?.restartCount).toBe(1),
      10_000,
    );
  });

  it("says when an image is not there", async () => {
    startNode();
    await client.create(pods, podOf("noimage", { containers: [shell("", { image: "example.test/none:1" })] }));
    await vi.waitFor(async () => {
      const [status] = (await podNamed("noimage")).status?.containerStatuses ?? [];
      expect(status?.state?.waiting).toMatchObject({ reason: "ErrImagePull" });
    }, 5_000);
    const reasons = (await client.list(events)).items.map(({ reason, message }) => `${reason}: ${message}`);
    expect(reasons.find((text) => text.startsWith("Failed: Failed to pull image"))).toContain("example.test/none:1");
  });
});

function initPid(pod: Pod, attempt: number): number {
  const file = path.join(base, "node/runtime", pod.metadata.uid ?? "", "containers/main", String(attempt), "init");
  return Number(fs.readFileSync(file, "utf8").split(" ")[0]);
}
