import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pods, type Pod } from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { createKubeClient, kubeconfigConnection, type KubeClient } from "@polyvirt/kube";
import { percentile, type Benchmark } from "./benchmark.ts";

const root = resolve(fileURLToPath(import.meta.url), "../../../..");
const rounds = 20;
const many = 200;
const namespace = "default";
const image = "bench.local/sleep:1";

/** The least that a container is: own mounts, own processes, own root. */
const byHand = `
mount -t tmpfs tmpfs "$1" && cd "$1" && mkdir upper work root &&
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root &&
mount -t proc proc root/proc && mount --rbind /dev root/dev && mount --rbind /sys root/sys &&
exec chroot root sh -c 'echo running; exec sleep 1000'`;

/** From creating a trivial pod to Running, beside the same namespaces made by hand; then many pods at once. */
export const benchmark: Benchmark = {
  name: "pods",
  summary: `create → Running of a trivial pod, and ${many} of them at once`,
  async run(report) {
    const dataDir = await mkdtemp(join(tmpdir(), "polyvirt-bench-"));
    try {
      polyvirt("up", "--port", "0", "--data-dir", dataDir);
      polyvirt("image", "add", image, "--exec", "/bin/sleep 100000", "--data-dir", dataDir);
      const connection = await kubeconfigConnection(join(dataDir, "kubeconfig"), { clock: systemClock });
      const client = createKubeClient({ connection, clock: systemClock, logger: silentLogger });
      const ours: number[] = [];
      const bare: number[] = [];
      for (let round = 0; round < rounds; round++) {
        ours.push(await startPods(client, [`one-${round}`]));
        bare.push(await startByHand(join(dataDir, "by-hand")));
      }
      report({ name: "create → Running, median", value: percentile(ours, 0.5), unit: "ms" });
      report({ name: "create → Running, 95 of 100", value: percentile(ours, 0.95), unit: "ms" });
      report({ name: "the same namespaces by hand, median", value: percentile(bare, 0.5), unit: "ms" });
      report({ name: "ratio", value: percentile(ours, 0.5) / percentile(bare, 0.5), unit: "ratio" });
      const cluster = Number(readFileSync(join(dataDir, "cluster.pid"), "utf8").match(/"pid": (\d+)/)?.[1]);
      const before = pssMiB(cluster);
      report({ name: "memory of the cluster process, with its own pods only", value: before, unit: "MiB" });
      const names = Array.from({ length: many }, (_, index) => `many-${index}`);
      const took = await startPods(client, names);
      report({ name: `${many} pods, until the last runs`, value: took, unit: "ms" });
      report({ name: "each of them", value: took / many, unit: "ms" });
      report({ name: "memory of the cluster process, per pod", value: (pssMiB(cluster) - before) / many, unit: "MiB" });
      client.close();
    } finally {
      polyvirt("down", "--data-dir", dataDir);
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

function polyvirt(...args: string[]): void {
  const { status, stderr } = spawnSync(join(root, "polyvirt"), args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`polyvirt ${args.join(" ")}: ${stderr}`);
}

async function startPods(client: KubeClient, names: readonly string[]): Promise<number> {
  const waiting = new Set(names);
  const stop = new AbortController();
  const events = client.watch(pods, { namespace, signal: stop.signal });
  const started = performance.now();
  await Promise.all(names.map((name) => client.create(pods, podNamed(name))));
  for await (const event of events) {
    if (event.type === "BOOKMARK") continue;
    if (event.object.status?.phase === "Running") waiting.delete(event.object.metadata.name ?? "");
    if (waiting.size === 0) break;
  }
  const took = performance.now() - started;
  stop.abort();
  return took;
}

function podNamed(name: string): Pod {
  return {
    metadata: { name, namespace },
    spec: {
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [{ name: "main", image }],
    },
  };
}

async function startByHand(directory: string): Promise<number> {
  spawnSync("mkdir", ["-p", directory]);
  const started = performance.now();
  const flags = ["--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"];
  const child = spawn("unshare", [...flags, "sh", "-c", byHand, "by-hand", directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const took = performance.now() - started;
  child.kill("SIGKILL");
  return took;
}

/** Memory that is the process's own, plus its share of what it shares. */
function pssMiB(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) / 1024;
}
