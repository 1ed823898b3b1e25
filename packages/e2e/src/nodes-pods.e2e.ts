import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import {
  addShellImages,
  daemonSet,
  deployment,
  list,
  newerShellImage,
  pod,
  shell,
  shellImage,
} from "./pod-manifests.ts";
import { run, type RunResult } from "./run.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up("--nodes", "3");
  await addShellImages(cluster);
});
afterAll(() => cluster.destroy());

/** What kubectl prints; fails when kubectl does. */
async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}\n${await cluster.log()}`);
  return stdout;
}

async function apply(...objects: object[]): Promise<void> {
  const { code, stderr } = await cluster.apply(list(...objects));
  if (code !== 0) throw new Error(stderr);
}

const kubeconfig = (): Record<string, string> => ({ KUBECONFIG: join(cluster.dataDir, "kubeconfig") });
const rollout = (what: string): Promise<string> => kubectl("rollout", "status", what, "--timeout=60s");
const ready = (name: string): Promise<string> =>
  kubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=60s");

describe("workloads on three nodes", () => {
  it("a Deployment rolls out and back", async () => {
    await apply(deployment("web", 3, { containers: [shell("exec sleep 1000")] }));
    expect(await rollout("deployment/web")).toContain("successfully rolled out");
    await kubectl("set", "image", "deployment/web", `main=${newerShellImage}`);
    await rollout("deployment/web");
    const images = async (): Promise<string> =>
      (await kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}")).trim();
    const all = (image: string): string => [image, image, image].join(" ");
    await eventually(images, (seen) => seen === all(newerShellImage));
    expect(await kubectl("rollout", "undo", "deployment/web")).toContain("rolled back");
    await rollout("deployment/web");
    await eventually(images, (seen) => seen === all(shellImage));
    const history = await kubectl("rollout", "history", "deployment/web");
    expect(history).toMatch(/^2 +.*\n3 +/m);
    const places = await kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}");
    expect(places.trim().split(" ").toSorted()).toEqual(["node-1", "node-2", "node-3"]);
    await kubectl("delete", "deployment", "web");
  });

  it("a DaemonSet follows the labels of nodes", async () => {
    await apply(daemonSet("agent", { nodeSelector: { agent: "yes" }, containers: [shell("exec sleep 1000")] }));
    const places = async (): Promise<string> => {
      const names = "jsonpath={.items[*].spec.nodeName}";
      return (await kubectl("get", "pods", "-l", "app=agent", "-o", names)).trim().split(" ").sort().join(" ");
    };
    await kubectl("label", "node", "node-1", "node-3", "agent=yes");
    await eventually(places, (seen) => seen === "node-1 node-3");
    await rollout("daemonset/agent");
    await kubectl("label", "node", "node-3", "agent-");
    await kubectl("label", "node", "node-2", "agent=yes");
    expect(await eventually(places, (seen) => seen === "node-1 node-2")).toBe("node-1 node-2");
    await kubectl("delete", "daemonset", "agent");
  });

  it("`describe` of a pod that fits nowhere names the reasons per node", async () => {
    await kubectl("taint", "node", "node-1", "dedicated=x:NoSchedule");
    await kubectl("cordon", "node-2");
    await apply(pod("big", { containers: [shell("true", { resources: { requests: { memory: "900Ti" } } })] }));
    const message =
      "0/3 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {dedicated: x}, 1 node(s) were unschedulable." +
      " preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.";
    expect(
      await eventually(
        () => kubectl("describe", "pod", "big"),
        (seen) => seen.includes("FailedScheduling"),
      ),
    ).toContain(message);
    await kubectl("delete", "pod", "big", "--now");
    await kubectl("taint", "node", "node-1", "dedicated-");
    await kubectl("uncordon", "node-2");
  });

  it("a more important pod takes the place of others, and a drain respects disruption budgets", async () => {
    const asking = (memory: string): object => ({ resources: { requests: { memory } } });
    const allocatable = await cluster.json<{ status: { allocatable: { memory: string } } }>("get", "node", "node-1");
    const share = Math.floor(Number.parseInt(allocatable.status.allocatable.memory, 10) * 0.6);
    await apply(
      { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "important" }, value: 1000 },
      deployment("filler", 3, { containers: [shell("exec sleep 1000", asking(`${share}Ki`))] }),
    );
    await rollout("deployment/filler");
    const containers = [shell("exec sleep 1000", asking(`${share}Ki`))];
    await apply(pod("vip", { priorityClassName: "important", containers }));
    await ready("vip");
    expect(await kubectl("get", "events")).toMatch(/Preempted\s+pod\/filler-\S+\s+Preempted by pod \S+ on node node-/);
    await kubectl("delete", "pod", "vip", "--now");
    await rollout("deployment/filler");
    const minAvailable = 3;
    const selector = { matchLabels: { app: "filler" } };
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "filler" } };
    await apply({ ...budget, spec: { minAvailable, selector } });
    const drain = ["drain", "node-3", "--ignore-daemonsets", "--force", "--delete-emptydir-data"];
    const refused = await cluster.kubectl(...drain, "--timeout=8s");
    expect(refused.stderr).toContain("would violate the pod's disruption budget");
    await kubectl("delete", "pdb", "filler");
    expect(await kubectl(...drain, "--timeout=60s")).toContain("node/node-3 drained");
    await kubectl("uncordon", "node-3");
    await kubectl("delete", "deployment", "filler");
  });
});

describe("a pod with everything", () => {
  const script = `
    set -e
    cat /config/key /secret/key /all/name /all/key /down/labels; echo
    cat /empty/from-init /claim/from-init /sub/file /one-file; echo
    test -s /all/token; test -b /dev/disk; stat -f -c %T /memory; ls /host/hostname
    exec ${process.execPath} -e 'require("http").createServer((q, s) => s.end("served")).listen(8080)'`;
  const mounts = [
    { name: "empty", mountPath: "/empty" },
    { name: "memory", mountPath: "/memory" },
    { name: "claim", mountPath: "/claim" },
    { name: "claim", mountPath: "/sub", subPath: "some/where" },
  ];

  it("becomes Ready", async () => {
    const claim = (name: string, volumeMode: string): object => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name },
      spec: { accessModes: ["ReadWriteOnce"], volumeMode, resources: { requests: { storage: "16Mi" } } },
    });
    await apply(
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "config" }, data: { key: "from-config " } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "secret" }, stringData: { key: "from-secret " } },
      claim("files", "Filesystem"),
      claim("disk", "Block"),
      pod(
        "full",
        {
          readinessGates: [{ conditionType: "example.com/gate" }],
          volumes: [
            { name: "empty", emptyDir: { sizeLimit: "16Mi" } },
            { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
            { name: "host", hostPath: { path: "/etc", type: "Directory" } },
            { name: "config", configMap: { name: "config" } },
            { name: "secret", secret: { secretName: "secret" } },
            { name: "down", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
            {
              name: "all",
              projected: {
                sources: [
                  { downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
                  { configMap: { name: "config" } },
                  { serviceAccountToken: { path: "token", expirationSeconds: 600 } },
                ],
              },
            },
            { name: "claim", persistentVolumeClaim: { claimName: "files" } },
            { name: "disk", persistentVolumeClaim: { claimName: "disk" } },
          ],
          initContainers: [
            shell("echo -n init- | tee /empty/from-init > /claim/from-init; echo -n sub- | tee /sub/file > /sub/one", {
              name: "prepare",
              volumeMounts: mounts,
            }),
            shell("exec sleep 1000", {
              name: "beside",
              restartPolicy: "Always",
              startupProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
            }),
          ],
          containers: [
            shell(script, {
              ports: [{ name: "http", containerPort: 8080 }],
              volumeMounts: [
                ...mounts,
                { name: "claim", mountPath: "/one-file", subPath: "some/where/one" },
                { name: "host", mountPath: "/host", readOnly: true },
                { name: "config", mountPath: "/config" },
                { name: "secret", mountPath: "/secret" },
                { name: "down", mountPath: "/down" },
                { name: "all", mountPath: "/all" },
              ],
              volumeDevices: [{ name: "disk", devicePath: "/dev/disk" }],
              startupProbe: { tcpSocket: { port: "http" }, periodSeconds: 1, failureThreshold: 30 },
              readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 1 },
              livenessProbe: { exec: { command: ["test", "-e", "/empty/from-init"] }, periodSeconds: 1 },
            }),
          ],
        },
        { app: "full" },
      ),
    );
    await kubectl("wait", "--for=condition=ContainersReady", "pod/full", "--timeout=60s");
    const reason = 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}';
    expect(await kubectl("get", "pod", "full", "-o", reason)).toBe("ReadinessGatesNotReady");
    const gate = JSON.stringify({ status: { conditions: [{ type: "example.com/gate", status: "True" }] } });
    await kubectl("patch", "pod", "full", "--subresource=status", "--type=strategic", "-p", gate);
    await ready("full");
    expect(await kubectl("logs", "full")).toBe(
      ['from-config from-secret fullfrom-config app="full"', "init-init-sub-sub-", "tmpfs", "/host/hostname", ""].join(
        "\n",
      ),
    );
    expect(await kubectl("get", "pod", "full", "--no-headers")).toMatch(/^full\s+2\/2\s+Running\s+0/);
  });

  // Services are headless here, and through those kubectl forwards to the port of the pod that it was given.
  it("is reached by port-forward, also through a service", async () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "full" } };
    await apply({ ...service, spec: { selector: { app: "full" }, ports: [{ port: 8080, targetPort: "http" }] } });
    for (const target of ["pod/full", "service/full"]) {
      const forward = start("kubectl", ["port-forward", target, ":8080", "--address=127.0.0.1"]);
      const announced = await forward.says(/127\.0\.0\.1:(\d+)/);
      const answer = await fetch(`http://127.0.0.1:${announced[1]}/`);
      expect(await answer.text()).toBe("served");
      forward.child.kill();
    }
    await kubectl("delete", "pod/full", "service/full", "--now");
    await kubectl("delete", "pvc", "files", "disk");
  });
});

describe("a running pod", () => {
  beforeAll(async () => {
    const script =
      "for i in 1 2 3; do echo line $i; done; while ! test -e /tmp/go; do sleep 0.1; done; echo late; exec sleep 1000";
    await apply(pod("shell", { containers: [shell(script)] }));
    await ready("shell");
  });

  it("is followed by logs -f", async () => {
    const follow = start("kubectl", ["logs", "-f", "shell"]);
    await follow.says(/line 3\n/);
    await kubectl("exec", "shell", "--", "touch", "/tmp/go");
    expect((await follow.says(/^(line \d\n){3}late\n/)).index).toBe(0);
    follow.child.kill();
    expect(await kubectl("logs", "shell", "--tail=1")).toBe("late\n");
  });

  it("runs commands and passes their streams and exit codes on, over WebSocket and SPDY", async () => {
    for (const websockets of ["true", "false"]) {
      const env = { ...kubeconfig(), KUBECTL_REMOTE_COMMAND_WEBSOCKETS: websockets };
      const command = ["exec", "-i", "shell", "--", "sh", "-c", "cat; echo err >&2; exit 7"];
      const result = await run("kubectl", command, { env, input: "typed" });
      expect(result).toMatchObject({ code: 7, stdout: "typed" });
      expect(result.stderr).toContain("err\n");
    }
  });

  it("gives exec -it a real terminal of the window's size", async () => {
    const typed = await terminal("kubectl exec -it shell -- sh", "tty; stty size; exit 4\n");
    expect(typed.code).toBe(4);
    expect(typed.stdout).toContain("/dev/pts/");
    expect(typed.stdout).toContain("33 99");
  });

  it("is debugged by a container that sees its processes", async () => {
    const debug = `kubectl debug -it shell --image=${shellImage} --target=main --container=debugger --profile=general -- sh`;
    const seen = await terminal(debug, "ps -o args= ax; exit\n");
    expect(seen.stdout).toContain("sleep 1000");
    expect(await kubectl("get", "pod", "shell", "-o", "jsonpath={.status.phase}")).toBe("Running");
  });

  it("copies files in and out", async () => {
    const here = join(cluster.dataDir, "kubeconfig");
    await kubectl("cp", here, "shell:/tmp/copied");
    await kubectl("cp", "shell:/tmp/copied", `${here}.copy`);
    expect((await run("cmp", [here, `${here}.copy`])).code).toBe(0);
  });
});

/** A program that goes on while the test looks at what it prints. */
function start(program: string, args: string[]): { child: ChildProcess; says(what: RegExp): Promise<RegExpExecArray> } {
  const child = spawn(program, args, { env: { ...process.env, ...kubeconfig() }, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (text += data.toString()));
  return {
    child,
    async says(what) {
      await eventually(
        async () => text,
        (seen) => what.test(seen),
      );
      // It matched a moment ago, and text only grows.
      return what.exec(text)!;
    },
  };
}

/** Types into a command that runs at a terminal of 33 rows and 99 columns, once it has printed something. */
async function terminal(command: string, typed: string): Promise<RunResult> {
  const child = spawn("script", ["--quiet", "--return", "--command", `stty rows 33 cols 99; ${command}`, "/dev/null"], {
    env: { ...process.env, ...kubeconfig() },
  });
  let stdout = "";
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  await eventually(
    async () => stdout,
    (seen) => /[#$] $|press/.test(seen),
  );
  child.stdin.write(typed);
  const code = await new Promise<number>((resolve) => child.once("exit", (status) => resolve(status ?? -1)));
  return { code, stdout, stderr: "" };
}
