import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { addShellImages, deployment, list, pod, shell } from "./pod-manifests.ts";
import { isCluster } from "./who.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up("--nodes", "3");
  await addShellImages(cluster);
});
afterAll(() => cluster.destroy());

async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}\n${await cluster.log()}`);
  return stdout;
}

/** Process ids of the first process of each container `main` whose pod is in the default namespace, by UID of the pod. */
async function processes(selector: string): Promise<Map<string, number>> {
  const uids = await kubectl("get", "pods", "-l", selector, "-o", "jsonpath={.items[*].metadata.uid}");
  const nodes = join(cluster.dataDir, "nodes");
  return new Map(
    uids.split(" ").map((uid) => {
      const node = readdirSync(nodes).find((name) => readdirSync(join(nodes, name, "runtime")).includes(uid)) ?? "";
      const runs = join(nodes, node, "runtime", uid, "containers/main");
      const latest = Math.max(...readdirSync(runs).map(Number));
      return [uid, Number(readFileSync(join(runs, String(latest), "init"), "utf8").split(" ")[0])];
    }),
  );
}

describe("kill -9 of the cluster process", () => {
  const restarts =
    '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{.status.containerStatuses[0].restartCount} {end}';
  const readyPods = async (): Promise<number> =>
    (await kubectl("get", "pods", "-l", "app=stay", "-o", `jsonpath=${restarts}`))
      .split(" ")
      .filter((entry) => entry === "True0").length;

  it("leaves 20 pods running, and the next one reports the same processes Ready", async () => {
    const readinessProbe = { exec: { command: ["true"] }, periodSeconds: 5 };
    const pods = Array.from({ length: 20 }, (_, index) =>
      pod(`stay-${index}`, { containers: [shell("exec sleep 1000", { readinessProbe })] }, { app: "stay" }),
    );
    await cluster.apply(list(...pods));
    await eventually(readyPods, (count) => count === 20);
    const before = await processes("app=stay");
    process.kill((await cluster.process(isCluster)).pid, "SIGKILL");
    for (const pid of before.values()) expect(() => process.kill(pid, 0)).not.toThrow();
    await cluster.up();
    expect(await eventually(readyPods, (count) => count === 20)).toBe(20);
    expect(await processes("app=stay")).toEqual(before);
    await kubectl("delete", "pods", "-l", "app=stay", "--now");
  });
});

describe("kill -9 of a pod's process", () => {
  it("is followed by a restart, and by waiting when it happens again", async () => {
    await cluster.apply(list(pod("victim", { containers: [shell("exec sleep 1000")] }, { app: "victim" })));
    await kubectl("wait", "--for=condition=Ready", "pod/victim", "--timeout=60s");
    const status = async (): Promise<string> =>
      (await kubectl("get", "pod", "victim", "--no-headers")).trim().split(/\s+/).slice(2, 4).join(" ");
    const kill = async (): Promise<void> => {
      for (const pid of (await processes("app=victim")).values()) process.kill(pid, "SIGKILL");
    };
    await kill();
    expect(await eventually(status, (seen) => seen === "Running 1")).toBe("Running 1");
    await kill();
    await eventually(status, (seen) => seen.startsWith("CrashLoopBackOff"));
    const last = await kubectl("get", "pod", "victim", "-o", "jsonpath={.status.containerStatuses[0].lastState}");
    expect(JSON.parse(last)).toMatchObject({ terminated: { exitCode: 137, reason: "Error" } });
    expect(await kubectl("describe", "pod", "victim")).toContain("Back-off restarting failed container main in pod");
    expect(await eventually(status, (seen) => seen === "Running 2")).toBe("Running 2");
    await kubectl("delete", "pod", "victim", "--now");
  });

  it("right after a stop of the whole cluster is restarted at once: a stop is no crash", async () => {
    await cluster.apply(list(pod("kept", { containers: [shell("exec sleep 1000")] }, { app: "kept" })));
    await kubectl("wait", "--for=condition=Ready", "pod/kept", "--timeout=60s");
    await cluster.polyvirt("down");
    await cluster.up();
    await kubectl("wait", "--for=condition=Ready", "pod/kept", "--timeout=60s");
    for (const pid of (await processes("app=kept")).values()) process.kill(pid, "SIGKILL");
    const count = (): Promise<string> =>
      kubectl("get", "pod", "kept", "-o", "jsonpath={.status.containerStatuses[0].restartCount}");
    expect(await eventually(count, (seen) => seen === "2", 8_000)).toBe("2");
    await kubectl("delete", "pod", "kept", "--now");
  });
});

describe("a node that falls silent", () => {
  /** Whatever node-3 wants to tell about itself is refused, as if its network were cut. */
  const silence = [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "silence" },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            { apiGroups: ["coordination.k8s.io"], apiVersions: ["v1"], operations: ["*"], resources: ["leases"] },
            { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["nodes/status"] },
          ],
        },
        validations: [{ expression: 'request.userInfo.username != "system:node:node-3"', message: "cut off" }],
      },
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "silence" },
      spec: { policyName: "silence", validationActions: ["Deny"] },
    },
  ];

  it("becomes NotReady, loses its pods after their toleration, and comes back", async () => {
    const tolerations = [
      { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
    ];
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["node-3"] }] },
        },
      ],
    };
    await cluster.apply(
      list(deployment("mover", 1, { tolerations, affinity: { nodeAffinity }, containers: [shell("exec sleep 1000")] })),
    );
    await kubectl("rollout", "status", "deployment/mover", "--timeout=60s");
    const place = (): Promise<string> =>
      kubectl("get", "pods", "-l", "app=mover", "-o", "jsonpath={.items[*].spec.nodeName}");
    expect(await place()).toBe("node-3");
    await cluster.apply(list(...silence));
    const status = async (): Promise<string> =>
      (await kubectl("get", "node", "node-3", "--no-headers")).trim().split(/\s+/)[1] ?? "";
    await eventually(status, (seen) => seen === "NotReady", 90_000);
    expect(await kubectl("describe", "node", "node-3")).toContain("Kubelet stopped posting node status.");
    await eventually(place, (seen) => !seen.includes("node-3") && seen !== "", 60_000);
    expect(await kubectl("get", "events")).toContain("TaintManagerEviction");
    await kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "silence");
    expect(await eventually(status, (seen) => seen === "Ready")).toBe("Ready");
    await kubectl("delete", "deployment", "mover");
  });
});
