import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster } from "../testing/test-cluster.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = new TestCluster(3);
  await cluster.start();
  await cluster.waitFor(
    "three nodes",
    async () => (await cluster.kubectl("get", "nodes", "-o", "name")).split("\n").length === 4,
  );
});
afterAll(() => cluster.dispose());

const labels = (app: string): object => ({ metadata: { labels: { app } } });
const container = (script: string, more: object = {}): object => ({
  name: "main",
  image: "test/shell:1",
  args: [script],
  ...more,
});
const podSpec = (...containers: object[]): object => ({ terminationGracePeriodSeconds: 1, containers });

const pod = (name: string, spec: object, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", ...more },
  spec,
});

describe("workloads", () => {
  it("a Deployment rolls out and back", async () => {
    await cluster.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "default" },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: "web" } },
        template: { ...labels("web"), spec: podSpec(container("exec sleep 1000")) },
      },
    });
    await cluster.kubectl("rollout", "status", "deployment/web", "--timeout=30s");
    await cluster.kubectl("set", "image", "deployment/web", "main=test/shell:2");
    await cluster.kubectl("rollout", "status", "deployment/web", "--timeout=30s");
    const images = (): Promise<string> =>
      cluster.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}");
    await cluster.waitFor("only new pods", async () => (await images()) === "test/shell:2 test/shell:2");
    await cluster.kubectl("rollout", "undo", "deployment/web");
    await cluster.kubectl("rollout", "status", "deployment/web", "--timeout=30s");
    await cluster.waitFor("only old pods", async () => (await images()) === "test/shell:1 test/shell:1");
    expect(await cluster.kubectl("rollout", "history", "deployment/web")).toMatch(/^2 .*\n3 /m);
    await cluster.kubectl("delete", "deployment", "web");
    await cluster.waitFor(
      "no pods",
      async () => (await cluster.kubectl("get", "pods", "-l", "app=web", "-o", "name")) === "",
    );
  });

  it("a DaemonSet follows the labels of nodes", async () => {
    await cluster.apply({
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "agent", namespace: "default" },
      spec: {
        selector: { matchLabels: { app: "agent" } },
        template: {
          ...labels("agent"),
          spec: { ...podSpec(container("exec sleep 1000")), nodeSelector: { agent: "yes" } },
        },
      },
    });
    const places = async (): Promise<string> => {
      const text = await cluster.kubectl(
        "get",
        "pods",
        "-l",
        "app=agent",
        "-o",
        "jsonpath={range .items[*]}{.spec.nodeName} {end}",
      );
      return text.trim().split(" ").sort().join(" ");
    };
    await cluster.kubectl("label", "node", "node-1", "node-3", "agent=yes");
    await cluster.waitFor("two agents", async () => (await places()) === "node-1 node-3");
    await cluster.kubectl("label", "node", "node-3", "agent-");
    await cluster.waitFor("one agent", async () => (await places()) === "node-1");
    expect(await cluster.kubectl("get", "daemonset", "agent", "-o", "jsonpath={.status.desiredNumberScheduled}")).toBe(
      "1",
    );
    await cluster.kubectl("delete", "daemonset", "agent");
  });

  it("a pod that fits nowhere says why, counted over the nodes", async () => {
    await cluster.kubectl("taint", "node", "node-1", "dedicated=x:NoSchedule");
    await cluster.kubectl("cordon", "node-2");
    const requests = { memory: "900Ti" };
    await cluster.apply(pod("big", podSpec(container("true", { resources: { requests } }))));
    await cluster.waitFor("an event", async () =>
      (await cluster.kubectl("describe", "pod", "big")).includes("FailedScheduling"),
    );
    expect(await cluster.kubectl("describe", "pod", "big")).toContain(
      "0/3 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {dedicated: x}, 1 node(s) were unschedulable.",
    );
    await cluster.kubectl("delete", "pod", "big", "--now");
    await cluster.kubectl("taint", "node", "node-1", "dedicated-");
    await cluster.kubectl("uncordon", "node-2");
  });
});

describe("pods", () => {
  it("one with everything becomes ready", async () => {
    const metadata = { namespace: "default" };
    await cluster.apply(
      { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, name: "config" }, data: { key: "from-config" } },
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { ...metadata, name: "secret" },
        stringData: { key: "from-secret" },
      },
    );
    const mounts = [
      { name: "scratch", mountPath: "/scratch" },
      { name: "scratch", mountPath: "/sub", subPath: "some/where" },
      { name: "config", mountPath: "/config" },
      { name: "secret", mountPath: "/secret", readOnly: true },
      { name: "all", mountPath: "/all" },
      { name: "host", mountPath: "/host" },
    ];
    const script = [
      "cat /config/key /secret/key /all/name /scratch/init; echo; echo $FROM_CONFIG $FROM_SECRET $NODE",
      "ls /host/hostname /sub -d; touch /scratch/up; exec sleep 1000",
    ].join("; ");
    await cluster.apply(
      pod("full", {
        terminationGracePeriodSeconds: 1,
        readinessGates: [{ conditionType: "example.com/gate" }],
        volumes: [
          { name: "scratch", emptyDir: {} },
          { name: "config", configMap: { name: "config" } },
          { name: "secret", secret: { secretName: "secret" } },
          {
            name: "all",
            projected: {
              sources: [{ downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } }],
            },
          },
          { name: "host", hostPath: { path: "/etc", type: "Directory" } },
        ],
        initContainers: [
          container("echo -n init > /scratch/init", { name: "init", volumeMounts: mounts }),
          container("exec sleep 1000", { name: "sidecar", restartPolicy: "Always" }),
        ],
        containers: [
          container(script, {
            volumeMounts: mounts,
            env: [
              { name: "FROM_CONFIG", valueFrom: { configMapKeyRef: { name: "config", key: "key" } } },
              { name: "FROM_SECRET", valueFrom: { secretKeyRef: { name: "secret", key: "key" } } },
              { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
            ],
            startupProbe: { exec: { command: ["test", "-e", "/scratch/up"] }, periodSeconds: 1 },
            readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
            livenessProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
          }),
        ],
      }),
    );
    const field = (path: string): Promise<string> => cluster.kubectl("get", "pod", "full", "-o", `jsonpath=${path}`);
    await cluster.waitFor(
      "ready containers",
      async () => (await field('{.status.conditions[?(@.type=="ContainersReady")].status}')) === "True",
    );
    expect(await field('{.status.conditions[?(@.type=="Ready")].reason}')).toBe("ReadinessGatesNotReady");
    const gate = { status: { conditions: [{ type: "example.com/gate", status: "True" }] } };
    await cluster.kubectl(
      "patch",
      "pod",
      "full",
      "--subresource=status",
      "--type=strategic",
      "-p",
      JSON.stringify(gate),
    );
    await cluster.kubectl("wait", "--for=condition=Ready", "pod/full", "--timeout=20s");
    const log = await cluster.kubectl("logs", "full");
    expect(log).toContain("from-configfrom-secretfullinit\n");
    expect(log).toContain(`from-config from-secret ${await field("{.spec.nodeName}")}\n`);
    expect(log).toContain("/host/hostname\n/sub\n");
    await cluster.kubectl("delete", "pod", "full", "--now");
  });

  it("keep what they write to a claim, and the claim while they use it", async () => {
    const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const spec = (script: string): object => ({
      ...podSpec(container(script, { volumeMounts: [{ name: "data", mountPath: "/data" }] })),
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    });
    await cluster.apply(pod("writer", spec("echo kept > /data/file; exec sleep 1000")));
    await cluster.waitFor("a reason", async () =>
      (await cluster.kubectl("describe", "pod", "writer")).includes(
        '0/3 nodes are available: persistentvolumeclaim "data" not found.',
      ),
    );
    await cluster.apply({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", namespace: "default" },
      spec: claim,
    });
    await cluster.kubectl("wait", "--for=condition=Ready", "pod/writer", "--timeout=20s");
    const volume = await cluster.kubectl("get", "pvc", "data", "-o", "jsonpath={.spec.volumeName}");
    expect(await cluster.kubectl("get", "pv", volume, "-o", "jsonpath={.status.phase}")).toBe("Bound");
    await cluster.kubectl("delete", "pod", "writer", "--now");
    await cluster.apply(pod("reader", spec("cat /data/file; exec sleep 1000")));
    await cluster.kubectl("wait", "--for=condition=Ready", "pod/reader", "--timeout=20s");
    await cluster.waitFor("what was written", async () => (await cluster.kubectl("logs", "reader")) === "kept\n");
    await cluster.kubectl("delete", "pvc", "data", "--wait=false");
    expect(await cluster.kubectl("get", "pvc", "data", "-o", "jsonpath={.metadata.deletionTimestamp}")).not.toBe("");
    await cluster.kubectl("delete", "pod", "reader", "--now");
    await cluster.waitFor("no volume", async () => (await cluster.kubectl("get", "pvc,pv", "-o", "name")) === "");
    expect(fs.readdirSync(path.join(cluster.data, "volumes"))).toEqual([]);
  });

  it("are reached with logs, exec and port-forward", async () => {
    const server =
      "import http.server,os; http.server.test(http.server.SimpleHTTPRequestHandler, bind=os.environ['POD_IP'], port=8080)";
    await cluster.apply(
      pod("reached", {
        ...podSpec(
          container("for i in 1 2 3; do echo line $i; done; sleep 1; echo late; exec sleep 1000"),
          container(`cd /etc; exec python3 -c "${server}"`, {
            name: "web",
            env: [
              { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
              { name: "PATH", value: process.env["PATH"] },
            ],
            readinessProbe: { httpGet: { path: "/hostname", port: 8080 }, periodSeconds: 1 },
          }),
        ),
      }),
    );
    const following = cluster.startKubectl("logs", "-f", "reached", "-c", "main", "--pod-running-timeout=20s");
    await cluster.kubectl("wait", "--for=condition=Ready", "pod/reached", "--timeout=30s");
    expect(await cluster.kubectl("logs", "reached", "-c", "main", "--tail=2")).toMatch(/line 3|late/);
    following.kill();
    const failed = await cluster.tryKubectl(
      "exec",
      "reached",
      "-c",
      "main",
      "--",
      "sh",
      "-c",
      "echo out; echo err >&2; exit 3",
    );
    expect(failed).toMatchObject({ code: 3, stdout: "out\n" });
    expect(failed.stderr).toContain("err\n");
    const typed = cluster.startKubectl("exec", "-i", "reached", "-c", "main", "--", "cat");
    typed.stdin?.end("typed text");
    expect(await textOf(typed.stdout)).toBe("typed text");
    const forward = cluster.startKubectl("port-forward", "pod/reached", ":8080", "--address=127.0.0.1");
    const announced = await firstText(forward.stdout);
    const port = /127\.0\.0\.1:(\d+)/.exec(announced)?.[1];
    const page = await Promise.all(
      Array.from({ length: 4 }, async () => (await fetch(`http://127.0.0.1:${port}/services`)).text()),
    );
    expect(new Set(page)).toEqual(new Set([fs.readFileSync("/etc/services", "utf8")]));
    forward.kill();
    await cluster.kubectl("delete", "pod", "reached", "--now");
  });
});

describe("kill -9 of the cluster with 20 pods", () => {
  it("leaves them running, and finds the same processes again", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `stay-${index}`);
    const probe = { readinessProbe: { exec: { command: ["true"] }, periodSeconds: 5 } };
    await cluster.apply(
      ...names.map((name) => pod(name, podSpec(container("exec sleep 1000", probe)), { labels: { app: "stay" } })),
    );
    const ready = async (): Promise<number> => {
      const path =
        '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{.status.containerStatuses[0].restartCount} {end}';
      const text = await cluster.kubectl("get", "pods", "-l", "app=stay", "-o", `jsonpath=${path}`);
      return text.split(" ").filter((status) => status === "True0").length;
    };
    await cluster.waitFor("20 ready pods", async () => (await ready()) === 20, 60_000);
    const before = initProcesses();
    await cluster.kill();
    for (const pid of before) expect(() => process.kill(pid, 0)).not.toThrow("ESRCH");
    await cluster.start();
    await cluster.waitFor("20 pods ready again", async () => (await ready()) === 20);
    expect(initProcesses()).toEqual(before);
    // The restarted kubelet notices an end at once, although the process is not its child.
    const [victim = 0] = before;
    process.kill(victim, "SIGKILL");
    await cluster.waitFor("a restart", async () => (await ready()) === 19, 5000);
    await cluster.kubectl("delete", "pods", "-l", "app=stay", "--now");
  });
});

/** Of all pods labelled `stay`, which are the only ones by then. */
function initProcesses(): number[] {
  const nodes = path.join(cluster.data, "nodes");
  return fs
    .readdirSync(nodes, { recursive: true, encoding: "utf8" })
    .filter((name) => /runtime\/[^/]+\/containers\/main\/0\/init$/.test(name))
    .map((name) => Number(fs.readFileSync(path.join(nodes, name), "utf8").split(" ")[0]))
    .sort((a, b) => a - b);
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = "";
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

function firstText(stream: NodeJS.ReadableStream | null): Promise<string> {
  return new Promise((resolve) => stream?.once("data", (chunk: Buffer) => resolve(String(chunk))));
}
