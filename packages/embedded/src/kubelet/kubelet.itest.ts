import * as fs from "node:fs";
import * as path from "node:path";
import { configMaps, deployments, events, nodes, pods, replicaSets, secrets, type Deployment } from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { composeControllers } from "../controllers/compose.ts";
import { composeScheduler } from "../scheduler/compose.ts";
import { NodeHarness, shell } from "../testing/node-harness.ts";

let node: NodeHarness;
beforeEach(() => {
  node = new NodeHarness();
  node.startNode();
});
afterEach(() => node.dispose());

describe("kubelet with real processes", () => {
  it("runs a Deployment's pods through scheduler and controllers", async () => {
    const { client } = node;
    const parts = { client, clock: systemClock, logger: silentLogger };
    node.start(composeScheduler(parts));
    node.start(composeControllers(parts));
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
    await vi.waitUntil(async () => {
      const { status } = await client.get(deployments, "demo", "default");
      return status?.readyReplicas === 2 && status.availableReplicas === 2 && status.updatedReplicas === 2;
    }, 15_000);
    const { items } = await client.list(pods);
    expect(items.map(({ spec }) => spec.nodeName)).toEqual(["node-1", "node-1"]);
    expect(new Set(items.map(({ status }) => status?.podIP)).size).toBe(2);
    for (const pod of items) await vi.waitUntil(() => node.lines(pod)[0] === "hello", 5000);
    const registered = await client.get(nodes, "node-1");
    expect(registered.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    // There is no garbage collector here.
    await client.delete(deployments, "demo", "default");
    for (const { metadata } of (await client.list(replicaSets)).items) {
      await client.delete(replicaSets, metadata.name ?? "", metadata.namespace);
    }
  });

  it("gives a pod its volumes, environment, token and address", async () => {
    const data = { key: Buffer.from("hidden").toString("base64") };
    await node.client.create(secrets, { metadata: { name: "s", namespace: "default" }, data });
    await node.client.create(configMaps, { metadata: { name: "c", namespace: "default" }, data: { a: "1", b: "2" } });
    const script = [
      "cat /secret/key; echo",
      "cat /all/token /all/config/b /all/name; echo",
      "echo $GREETING $POD_IP",
      "echo data > /scratch/file; cat /scratch/file",
      "hostname",
      `ls ${node.base} | wc -l`,
      "(echo x > /secret/key) 2>/dev/null || echo read-only",
    ].join("\n");
    const pod = await node.createPod("volumes", {
      restartPolicy: "Never",
      volumes: [
        { name: "secret", secret: { secretName: "s" } },
        { name: "scratch", emptyDir: {} },
        {
          name: "all",
          projected: {
            sources: [
              { serviceAccountToken: { path: "token" } },
              { configMap: { name: "c", items: [{ key: "b", path: "config/b" }] } },
              { downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
            ],
          },
        },
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
            { name: "all", mountPath: "/all" },
            { name: "scratch", mountPath: "/scratch" },
          ],
        }),
      ],
    });
    const { status } = await node.podInPhase("volumes", "Succeeded");
    expect(node.lines(pod)).toEqual([
      "hidden",
      "fake-token2volumes",
      `hello world ${status?.podIP}`,
      "data",
      "volumes",
      "0",
      "read-only",
    ]);
  });

  it("runs init containers, then a sidecar, then the rest, and ends them in order", async () => {
    const mount = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
    const pod = await node.createPod("order", {
      restartPolicy: "Never",
      volumes: [{ name: "shared", emptyDir: {} }],
      initContainers: [
        shell("echo init >> /shared/order", { ...mount, name: "init" }),
        shell(
          "echo sidecar >> /shared/order; trap 'echo sidecar-end >> /shared/order; exit 0' TERM; while :; do sleep 0.05; done",
          {
            ...mount,
            name: "sidecar",
            restartPolicy: "Always",
            startupProbe: { exec: { command: ["grep", "sidecar", "/shared/order"] }, periodSeconds: 1 },
          },
        ),
      ],
      containers: [
        shell("echo main >> /shared/order; sleep 0.3; echo main-end >> /shared/order", mount),
        shell("cat /shared/order", { ...mount, name: "other" }),
      ],
    });
    const done = await node.podInPhase("order", "Succeeded");
    expect(done.status?.initContainerStatuses?.map(({ name }) => name)).toEqual(["init", "sidecar"]);
    const order = fs.readFileSync(`${node.volume(pod, "empty-dir", "shared")}/order`, "utf8");
    expect(order.trim().split("\n")).toEqual(["init", "sidecar", "main", "main-end", "sidecar-end"]);
  });

  it("restarts a container that is killed, and reports why it ended", async () => {
    await node.createPod("restart", { containers: [shell("exec sleep 1000")] });
    process.kill(node.initPid(await node.podInPhase("restart", "Running")), "SIGKILL");
    const after = await node.podThat(
      "restart",
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1 && status.containerStatuses[0].ready,
    );
    expect(after.status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({
      exitCode: 137,
      reason: "Error",
    });
  });

  it("waits longer before each further restart", async () => {
    await node.createPod("crash", { containers: [shell("exit 3")] });
    const pod = await node.podThat(
      "crash",
      ({ status }) =>
        status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff" &&
        status.containerStatuses[0].restartCount === 1,
    );
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 3 } },
    });
    expect(pod.status?.phase).toBe("Running");
  });

  it("becomes ready by its probe, and restarts when its liveness fails", async () => {
    await node.createPod("probed", {
      volumes: [{ name: "v", emptyDir: {} }],
      containers: [
        shell("sleep 0.5; touch /v/ready; [ -e /v/second ] || (touch /v/second; sleep 1; rm /v/ready); sleep 1000", {
          volumeMounts: [{ name: "v", mountPath: "/v" }],
          readinessProbe: { exec: { command: ["test", "-e", "/v/ready"] }, periodSeconds: 1 },
          livenessProbe: {
            exec: { command: ["test", "-e", "/v/ready"] },
            periodSeconds: 1,
            initialDelaySeconds: 2,
            failureThreshold: 1,
          },
        }),
      ],
    });
    const started = await node.podInPhase("probed", "Running");
    expect(started.status?.containerStatuses?.[0]?.ready).toBe(false);
    await node.podThat("probed", ({ status }) => status?.containerStatuses?.[0]?.ready === true);
    await node.podThat(
      "probed",
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1 && status.containerStatuses[0].ready,
    );
    const reasons = (await node.client.list(events)).items.map(({ reason }) => reason);
    expect(reasons).toContain("Unhealthy");
    expect(reasons).toContain("Killing");
  });

  it("runs its hooks after the start and before the end", async () => {
    const pod = await node.createPod("hooks", {
      volumes: [{ name: "v", emptyDir: {} }],
      terminationGracePeriodSeconds: 20,
      containers: [
        shell("trap 'echo term >> /v/order; exit 0' TERM; while :; do sleep 0.05; done", {
          volumeMounts: [{ name: "v", mountPath: "/v" }],
          lifecycle: {
            postStart: { exec: { command: ["sh", "-c", "echo post-start >> /v/order"] } },
            preStop: { exec: { command: ["sh", "-c", "echo pre-stop >> /v/order"] } },
          },
        }),
      ],
    });
    const order = path.join(node.volume(pod, "empty-dir", "v"), "order");
    await vi.waitUntil(() => fs.existsSync(order), 10_000);
    const kept = path.join(node.base, "kept");
    fs.linkSync(order, kept);
    await node.client.delete(pods, "hooks", "default");
    await vi.waitUntil(
      () =>
        node.pod("hooks").then(
          () => false,
          () => true,
        ),
      10_000,
    );
    expect(fs.readFileSync(kept, "utf8")).toBe("post-start\npre-stop\nterm\n");
  });

  it("asks a container to end, and kills it when it does not", async () => {
    const stubborn = "trap '' TERM; while :; do sleep 0.05; done";
    await node.createPod("stubborn", { containers: [shell(stubborn)] });
    const pod = await node.podInPhase("stubborn", "Running");
    const pid = node.initPid(pod);
    const before = systemClock.monotonic();
    await node.client.delete(pods, "stubborn", "default");
    await vi.waitUntil(
      () =>
        node.pod("stubborn").then(
          () => false,
          () => true,
        ),
      10_000,
    );
    expect(systemClock.monotonic() - before).toBeGreaterThan(900);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("says when an image is not there, and starts as soon as it is added", async () => {
    await node.createPod("noimage", { containers: [shell("sleep 1000", { image: "example.test/none:1" })] });
    await node.podThat(
      "noimage",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "ErrImagePull",
    );
    const messages = (await node.client.list(events)).items.map(({ message }) => message ?? "");
    expect(messages.find((text) => text.startsWith("Failed to pull image"))).toContain("example.test/none:1");
    node.addImage("example.test/none:1", ["/bin/sh", "-c"]);
    await node.podInPhase("noimage", "Running");
  });

  it.each([
    ["a secret that does not exist", { secret: { secretName: "none" } }, /secret "none" not found/],
    ["a type of volume that is not available", { ephemeral: {} }, /volumes of type ephemeral are not available/],
    [
      "a host path that does not exist",
      { hostPath: { path: "/no/such", type: "Directory" } },
      /\/no\/such does not exist/,
    ],
  ])("waits with a reason for %s", async (_name, source, message) => {
    await node.createPod("waits", { volumes: [{ name: "v", ...source }], containers: [shell("true")] });
    await vi.waitUntil(async () => {
      const { items } = await node.client.list(events);
      return items.some((event) => event.reason === "FailedMount" && message.test(event.message ?? ""));
    }, 5000);
    expect((await node.pod("waits")).status?.phase).toBe("Pending");
  });

  it("finds its pods again after a restart, by identity", async () => {
    await node.createPod("stays", {
      containers: [shell("exec sleep 1000", { readinessProbe: { exec: { command: ["true"] } } })],
    });
    const before = await node.podThat("stays", ({ status }) => status?.containerStatuses?.[0]?.ready === true);
    const pid = node.initPid(before);
    await node.stop();
    node.startNode();
    await systemClock.sleep(300);
    const after = await node.pod("stays");
    expect(after.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, ready: true });
    expect(node.initPid(after)).toBe(pid);
    process.kill(pid, "SIGKILL");
    await node.podThat("stays", ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
  });

  it("ends and removes what belongs to no pod any more", async () => {
    await node.createPod("orphan", { containers: [shell("exec sleep 1000")] });
    const pid = node.initPid(await node.podInPhase("orphan", "Running"));
    await node.stop();
    await node.client.delete(pods, "orphan", "default", { gracePeriodSeconds: 0 });
    // Another pod with the same name is another pod.
    await node.createPod("orphan", { containers: [shell("exec sleep 1000")] });
    node.startNode();
    const fresh = await node.podInPhase("orphan", "Running");
    expect(node.initPid(fresh)).not.toBe(pid);
    await vi.waitUntil(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    }, 10_000);
  });
});
