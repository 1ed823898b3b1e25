import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { virtualMachineInstances, type VirtualMachineInstance } from "@polyvirt/api";
import { systemClock } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { parse } from "yaml";
import { percentile, type Benchmark } from "./benchmark.ts";
import { repositoryRoot, withCluster } from "./cluster.ts";
import { commandLineOf } from "./process-use.ts";

const rounds = 7;
const atOnce = 20;
/** So little that as many as are measured fit on two processors by their requests. */
const requestedCpu = "10m";
const startLimitMs = 120_000;

type Spec = VirtualMachineInstance["spec"];

/** Finds nothing to boot and rests: many of them leave the processors to those that still start. */
const restful: Spec = {
  domain: { devices: { interfaces: [{ name: "default", masquerade: {} }] }, memory: { guest: "64Mi" } },
  networks: [{ name: "default", pod: {} }],
};
const namespace = "default";

/**
 * How long a VirtualMachineInstance takes from create to Running, compared with starting the very same QEMU command by hand
 * (spawn, monitor, continue, running). Both are measured in turn on one machine; the difference is what Polyvirt adds.
 * First one guest after the other, then many at once, which boot while others still start.
 */
export const benchmark: Benchmark = {
  name: "guest-start",
  summary: "create → Running, against the same QEMU command started by hand; one guest, and 20 at once",
  async run(report) {
    await withCluster(async ({ client, polyvirt }) => {
      polyvirt("image", "build-demo");
      // Our own example; the API server validates it.
      const hello = parse(
        await readFile(join(repositoryRoot, "examples/hello.yaml"), "utf8"),
      ) as VirtualMachineInstance;
      const ours: number[] = [];
      const bare: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const name = `bench-${round}`;
        ours.push(await createAndWait(client, name, hello.spec));
        bare.push(...(await startByHand([name])));
        await deleteAndWait(client, [name]);
      }
      const overhead = ours.map((time, index) => time - (bare[index] ?? 0));
      report({ name: "create → Running, median", value: percentile(ours, 0.5), unit: "ms" });
      report({ name: "the same QEMU by hand, median", value: percentile(bare, 0.5), unit: "ms" });
      report({ name: "ratio", value: percentile(ours, 0.5) / percentile(bare, 0.5), unit: "ratio" });
      report({ name: "overhead, median", value: percentile(overhead, 0.5), unit: "ms", budget: { atMost: 500 } });
      report({ name: "overhead, 95 of 100", value: percentile(overhead, 0.95), unit: "ms", budget: { atMost: 1000 } });

      const many = Array.from({ length: atOnce }, (_, index) => `bench-many-${index}`);
      const oursAtOnce = await Promise.all(many.map((name) => createAndWait(client, name, restful)));
      const bareAtOnce = await startByHand(many);
      await deleteAndWait(client, many);
      const [first, last] = [Math.min(...oursAtOnce), Math.max(...oursAtOnce)];
      const allBare = Math.max(...bareAtOnce);
      report({ name: `${atOnce} at once, until the first runs`, value: first, unit: "ms" });
      report({ name: `${atOnce} at once, median`, value: percentile(oursAtOnce, 0.5), unit: "ms" });
      report({ name: `${atOnce} at once, until the last runs`, value: last, unit: "ms" });
      report({ name: `${atOnce} of the same QEMU by hand at once, until the last runs`, value: allBare, unit: "ms" });
      // With nothing that queues, each costs no more than one alone.
      const share = (last - allBare) / atOnce;
      report({ name: `${atOnce} at once, overhead for each`, value: share, unit: "ms", budget: { atMost: 500 } });
    });
  },
};

async function createAndWait(client: KubeClient, name: string, { domain, ...spec }: Spec): Promise<number> {
  const resources = { ...domain.resources, requests: { ...domain.resources?.requests, cpu: requestedCpu } };
  const stop = new AbortController();
  const limit = setTimeout(() => stop.abort(), startLimitMs);
  const events = client.watch(virtualMachineInstances, { namespace, signal: stop.signal });
  const started = performance.now();
  await client.create(virtualMachineInstances, {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name, namespace },
    spec: { ...spec, domain: { ...domain, resources } },
  });
  let status: VirtualMachineInstance["status"];
  try {
    for await (const event of events) {
      if (event.type === "BOOKMARK" || event.object.metadata.name !== name) continue;
      status = event.object.status;
      if (status?.phase === "Running") return performance.now() - started;
      if (status?.phase === "Failed") break;
    }
  } finally {
    clearTimeout(limit);
    stop.abort();
  }
  throw new Error(`${name} did not become Running within ${startLimitMs} ms: ${JSON.stringify(status)}`);
}

async function deleteAndWait(client: KubeClient, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => client.delete(virtualMachineInstances, name, namespace)));
  while ((await client.list(virtualMachineInstances, { namespace })).items.length > 0) await systemClock.sleep(100);
}

interface BareMachine {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly monitor: string;
}

/**
 * Takes the running guests' command lines, gives them files of their own, starts all at once, and times each up to the
 * state "running". The guests that they are copied from rest meanwhile, so that they do not take the processors' time.
 */
async function startByHand(names: readonly string[]): Promise<number[]> {
  const guests = names.map((name) => findQemu(name));
  const machines = await Promise.all(guests.map((guest, index) => copyMachine(guest, index)));
  const children: ChildProcess[] = [];
  for (const { pid } of guests) process.kill(pid, "SIGSTOP");
  try {
    return await Promise.all(
      machines.map(async ({ program, args, monitor }) => {
        const started = performance.now();
        const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
        children.push(child);
        await continueUntilRunning(monitor, child);
        return performance.now() - started;
      }),
    );
  } finally {
    for (const child of children) await end(child);
    for (const { pid } of guests) process.kill(pid, "SIGCONT");
    for (const { folder } of machines) await rm(folder, { recursive: true, force: true });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function copyMachine({ pid, args }: Guest, index: number): Promise<BareMachine> {
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
      .replace('"ifname":"tap0"', `"ifname":"pvb${process.pid % 10_000_000}.${index}"`)
      .replace("socket,id=monitor,fd=3", `socket,id=monitor,path=${monitor},server=on,wait=off`),
  );
  return { program: args[0] ?? "qemu-system-x86_64", args: own, folder, monitor };
}

interface Guest {
  readonly pid: number;
  readonly args: readonly string[];
}

function findQemu(name: string): Guest {
  for (const entry of readdirSync("/proc").filter((item) => /^\d+$/.test(item))) {
    try {
      const args = commandLineOf(Number(entry));
      if (args.some((word) => word.startsWith(`guest=default_${name},`))) return { pid: Number(entry), args };
    } catch {
      // It ended while we were looking.
    }
  }
  throw new Error(`no QEMU process runs ${name}`);
}

async function continueUntilRunning(path: string, child: ChildProcess): Promise<void> {
  const socket = await connectWhenThere(path, child);
  const lines = createInterface({ input: socket });
  socket.write('{"execute":"qmp_capabilities"}\n{"execute":"cont"}\n{"execute":"query-status"}\n');
  for await (const line of lines) if (line.includes('"status": "running"')) break;
  socket.destroy();
}

async function connectWhenThere(path: string, child: ChildProcess): Promise<Socket> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`QEMU started by hand ended with ${child.exitCode}`);
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
