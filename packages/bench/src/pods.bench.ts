import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { pods, type Pod } from "@polyvirt/api/k8s";
import type { KubeClient } from "@polyvirt/kube";
import { percentile, type Benchmark } from "./benchmark.ts";
import { withCluster } from "./cluster.ts";
import { proportionalMib } from "./process-use.ts";

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
    await withCluster(async ({ client, dataDir, pid, polyvirt }) => {
      polyvirt("image", "add", image, "--exec", "/bin/sleep 100000");
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
      const before = proportionalMib([pid]);
      report({ name: "memory of the cluster process, with its own pods only", value: before, unit: "MiB" });
      const names = Array.from({ length: many }, (_, index) => `many-${index}`);
      const took = await startPods(client, names);
      report({ name: `${many} pods, until the last runs`, value: took, unit: "ms" });
      report({ name: "each of them", value: took / many, unit: "ms" });
      const more = (proportionalMib([pid]) - before) / many;
      report({ name: "memory of the cluster process, per pod", value: more, unit: "MiB" });
    });
  },
};

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
