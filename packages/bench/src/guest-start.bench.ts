import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { virtualMachineInstances, type VirtualMachineInstance } from "@polyvirt/api";
import { silentLogger, systemClock } from "@polyvirt/core";
import { createKubeClient, kubeconfigConnection, type KubeClient } from "@polyvirt/kube";
import { parse } from "yaml";
import { percentile, type Benchmark } from "./benchmark.ts";

const root = resolve(fileURLToPath(import.meta.url), "../../../..");
const rounds = 7;
const namespace = "default";

/**
 * How long a VirtualMachineInstance takes from create to Running, compared with starting the very same QEMU command by hand
 * (spawn, monitor, continue, running). Both are measured in turn on one machine; the difference is what Polyvirt adds.
 */
export const benchmark: Benchmark = {
  name: "guest-start",
  summary: "create → Running, against the same QEMU command started by hand",
  async run(report) {
    const dataDir = await mkdtemp(join(tmpdir(), "polyvirt-bench-"));
    try {
      polyvirt("up", "--port", "0", "--data-dir", dataDir);
      polyvirt("image", "build-demo", "--data-dir", dataDir);
      const connection = await kubeconfigConnection(join(dataDir, "kubeconfig"), { clock: systemClock });
      const client = createKubeClient({ connection, clock: systemClock, logger: silentLogger });
      const ours: number[] = [];
      const bare: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const name = `bench-${round}`;
        ours.push(await createAndWait(client, name));
        bare.push(await startByHand(name));
        await deleteAndWait(client, name);
      }
      client.close();
      const overhead = ours.map((time, index) => time - (bare[index] ?? 0));
      report({ name: "create → Running, median", value: percentile(ours, 0.5), unit: "ms" });
      report({ name: "the same QEMU by hand, median", value: percentile(bare, 0.5), unit: "ms" });
      report({ name: "ratio", value: percentile(ours, 0.5) / percentile(bare, 0.5), unit: "ratio" });
      report({ name: "overhead, median", value: percentile(overhead, 0.5), unit: "ms", budget: { atMost: 500 } });
      report({ name: "overhead, 95 of 100", value: percentile(overhead, 0.95), unit: "ms", budget: { atMost: 1000 } });
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

async function createAndWait(client: KubeClient, name: string): Promise<number> {
  // Our own example; the API server validates it.
  const example = parse(await readFile(join(root, "examples/hello.yaml"), "utf8")) as VirtualMachineInstance;
  const stop = new AbortController();
  const events = client.watch(virtualMachineInstances, { namespace, signal: stop.signal });
  const started = performance.now();
  await client.create(virtualMachineInstances, { ...example, metadata: { name, namespace } });
  for await (const event of events) {
    if (event.type === "BOOKMARK" || event.object.metadata.name !== name) continue;
    const phase = event.object.status?.phase;
    if (phase === "Failed") throw new Error(`${name} failed: ${JSON.stringify(event.object.status)}`);
    if (phase === "Running") break;
  }
  const took = performance.now() - started;
  stop.abort();
  return took;
}

async function deleteAndWait(client: KubeClient, name: string): Promise<void> {
  await client.delete(virtualMachineInstances, name, namespace);
  while ((await client.list(virtualMachineInstances, { namespace })).items.length > 0) await systemClock.sleep(100);
}

/** Takes the running guest's command line, gives it files of its own, and times it up to the state "running". */
async function startByHand(name: string): Promise<number> {
  const { pid, args } = findQemu(name);
  const folder = await mkdtemp(join(tmpdir(), "bare-qemu-"));
  // Through the guest's own root; /var/run is a link to /run there, and an absolute link would lead out of it.
  const inside = (path: string): string => `/proc/${pid}/root${path.replace(/^\/var\/run\//, "/run/")}`;
  const monitor = join(folder, "monitor");
  const overlay = /"filename":"(\/var\/run\/kubevirt-ephemeral-disks[^"]+)"/.exec(args.join(" "))?.[1];
  if (overlay !== undefined) await copyFile(inside(overlay), join(folder, "overlay.qcow2"));
  const own = args.slice(1).map((word) =>
    word
      .replaceAll(/\/var\/run\/kubevirt-private\/[0-9a-f-]+/g, folder)
      .replaceAll(overlay ?? "\0", join(folder, "overlay.qcow2"))
      .replaceAll("/var/run/kubevirt/", inside("/var/run/kubevirt/"))
      // A device of its own, in the machine's network, which goes with the process.
      .replace('"ifname":"tap0"', `"ifname":"pvbench${process.pid % 10_000}"`)
      .replace("socket,id=monitor,fd=3", `socket,id=monitor,path=${monitor},server=on,wait=off`),
  );
  const started = performance.now();
  const child = spawn(args[0] ?? "qemu-system-x86_64", own, { stdio: ["ignore", "ignore", "inherit"] });
  try {
    await continueUntilRunning(monitor);
    return performance.now() - started;
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
    await rm(folder, { recursive: true, force: true });
  }
}

function findQemu(name: string): { pid: number; args: string[] } {
  for (const entry of readdirSync("/proc").filter((item) => /^\d+$/.test(item))) {
    try {
      const args = readFileSync(`/proc/${entry}/cmdline`, "utf8").split("\0").slice(0, -1);
      if (args.some((word) => word.startsWith(`guest=default_${name},`))) return { pid: Number(entry), args };
    } catch {
      // It ended while we were looking.
    }
  }
  throw new Error(`no QEMU process runs ${name}`);
}

async function continueUntilRunning(path: string): Promise<void> {
  const socket = await connectWhenThere(path);
  const lines = createInterface({ input: socket });
  socket.write('{"execute":"qmp_capabilities"}\n{"execute":"cont"}\n{"execute":"query-status"}\n');
  for await (const line of lines) if (line.includes('"status": "running"')) break;
  socket.destroy();
}

async function connectWhenThere(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect(path);
    try {
      await once(socket, "connect");
      return socket;
    } catch {
      // QEMU has not made its monitor socket yet.
      await systemClock.sleep(2);
    }
  }
}
