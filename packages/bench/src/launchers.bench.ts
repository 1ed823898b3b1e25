import { existsSync } from "node:fs";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { parseQuantity, quantityToInteger, systemClock } from "@polyvirt/core";
import { registry } from "@polyvirt/hypervisor";
import { cmdV1, createGrpcClient } from "@polyvirt/protocol";
import { stackOverheadBytes } from "@polyvirt/virt-controller";
import { buildLauncher, TestPod, type LauncherProcess } from "@polyvirt/virt-launcher/testing";
import { percentile, type Benchmark, type Measurement } from "./benchmark.ts";
import { familyOf, processorMs, proportionalMib, residentMib } from "./process-use.ts";

const rounds = 5;
const many = 20;
const mebibyte = 1024 * 1024;
const callTimeoutMs = 120_000;

/** What is promised for a machine with one virtual processor and 1 GiB, beside guest memory. */
const launchers = [
  { role: "virt-launcher-qemu", memoryBudgetMib: 128, needs: [] },
  { role: "virt-launcher-libvirt", memoryBudgetMib: 192, needs: ["/usr/sbin/libvirtd", "/usr/sbin/virtqemud"] },
] as const;

interface Running {
  readonly pod: TestPod;
  readonly launcher: LauncherProcess;
  readonly readyMs: number;
  /** Processor time up to then, which a busy machine does not stretch. */
  readonly readyCpuMs: number;
  readonly startMs: number;
  /** The launcher's own, when it was ready and had nothing to do yet. */
  readonly loadedMib: number;
}

/** Launchers of both stacks with the same guest (a boot sector), in turn: how soon they are there and what they cost. */
export const benchmark: Benchmark = {
  name: "launchers",
  summary: "launchers of both stacks: readiness, start of the same machine, memory with 1 and 20 machines",
  async run(report) {
    const starts = new Map<string, number>();
    for (const { role, memoryBudgetMib, needs } of launchers) {
      if (needs.length > 0 && !needs.some((path) => existsSync(path))) continue;
      const bundle = await buildLauncher(role);
      const samples: Running[] = [];
      for (let round = 0; round < rounds; round += 1) {
        samples.push(await start(bundle));
        if (round === 0) {
          report({ ...reservedBesideOneGiB(role, samples[0]), budget: { atMost: memoryBudgetMib } });
          reportMemory(report, `${role}, 1 machine`, role, samples);
        }
        await stop(samples.at(-1));
      }
      const median = (of: (running: Running) => number): number => percentile(samples.map(of), 0.5);
      const name = (what: string): string => `${role}: ${what}`;
      report({ name: name("ready"), value: median((one) => one.readyMs), unit: "ms", budget: { atMost: 250 } });
      report({ name: name("processor time until ready"), value: median((one) => one.readyCpuMs), unit: "ms" });
      const loaded = median((one) => one.loadedMib);
      report({ name: name("RSS after load"), value: loaded, unit: "MiB", budget: { atMost: 64 } });
      starts.set(
        role,
        median((one) => one.startMs),
      );
      report({ name: name("start of the machine"), value: starts.get(role) ?? Number.NaN, unit: "ms" });
      await measureMany(report, bundle, role);
    }
    const [qemu, libvirt] = launchers.map(({ role }) => starts.get(role));
    if (qemu !== undefined && libvirt !== undefined) {
      report({ name: "start of the machine, libvirt over qemu", value: libvirt / qemu, unit: "ratio" });
    }
  },
};

type Report = (measurement: Measurement) => void;

async function measureMany(report: Report, bundle: string, role: string): Promise<void> {
  const all: Running[] = [];
  try {
    for (let index = 0; index < many; index += 1) all.push(await start(bundle));
    reportMemory(report, `${role}, ${many} machines`, role, all);
  } finally {
    for (const running of all) await stop(running);
  }
}

function reportMemory(report: Report, name: string, role: string, all: readonly Running[]): void {
  const own = all.reduce((sum, { launcher }) => sum + proportionalMib([launcher.pid]), 0) / all.length;
  const total = all.reduce((sum, { launcher }) => sum + proportionalMib(familyOf(launcher.pid)), 0) / all.length;
  const vmi = all[0]?.pod.vmi ?? never();
  const guest = Number(quantityToInteger(parseQuantity(String(vmi.spec.domain.memory?.guest ?? 0))));
  const reserved = (overheadBytes(vmi, role) + guest) / mebibyte;
  report({ name: `${name}: PSS of a launcher`, value: own, unit: "MiB" });
  report({ name: `${name}: PSS with VMM, daemon and guest memory`, value: total, unit: "MiB" });
  report({
    name: `${name}: used of what its pod reserves`,
    value: total / reserved,
    unit: "ratio",
    budget: { atMost: 1 },
  });
}

function reservedBesideOneGiB(role: string, sample: Running | undefined): Measurement {
  const vmi = structuredClone(sample?.pod.vmi ?? never());
  vmi.spec.domain.memory = { guest: "1Gi" };
  const value = overheadBytes(vmi, role) / mebibyte;
  return { name: `${role}: reserved beside the memory of a guest of 1 GiB`, value, unit: "MiB" };
}

/** As virt-controller reckons for a pod that gets the node's hypervisor. */
function overheadBytes(vmi: VirtualMachineInstance, role: string): number {
  const stack = stackOverheadBytes({ launcherImage: `polyvirt.local/${role}:1`, config: {} }, false);
  if (stack === undefined) throw new Error(`nothing is known about the cost of ${role}`);
  const options = { architecture: "amd64", virtLauncherOverheadBytes: stack } as const;
  return registry.get("kvm").resources.getMemoryOverhead(vmi, options).bytes;
}

async function start(bundle: string): Promise<Running> {
  const pod = await TestPod.make();
  const spawned = performance.now();
  const launcher = pod.start(bundle);
  while (!existsSync(pod.commandSocket)) await systemClock.sleep(1);
  const readyMs = performance.now() - spawned;
  const readyCpuMs = processorMs(launcher.pid);
  const loadedMib = residentMib(launcher.pid);
  const client = createGrpcClient(cmdV1.Cmd, `unix:${pod.commandSocket}`, { timeoutMs: callTimeoutMs });
  try {
    const asked = performance.now();
    await client.syncVirtualMachine({ vmi: { vmiJson: Buffer.from(JSON.stringify(pod.vmi)) } });
    return { pod, launcher, readyMs, readyCpuMs, loadedMib, startMs: performance.now() - asked };
  } finally {
    client.close();
  }
}

async function stop(running: Running | undefined): Promise<void> {
  // In good order: a launcher that is killed leaves it to others to end its machine, and they look into these folders.
  running?.launcher.child.kill("SIGTERM");
  await running?.launcher.exited;
  await running?.pod.dispose();
}

function never(): never {
  throw new Error("there is no machine to measure");
}
