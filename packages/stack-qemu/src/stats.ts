import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import {
  errors,
  type BlockStats,
  type DomainStats,
  type MemoryStats,
  type Stats,
  type VcpuStats,
} from "@polyvirt/stack";
import type { QemuLifecycle } from "./lifecycle/qemu-lifecycle.ts";
import type { QmpClient } from "./qmp/qmp-client.ts";

/** Clock ticks of the kernel's accounting in nanoseconds: 100 a second on every Linux that matters. */
const tickNanoseconds = 10_000_000;
const kibibyte = 1024;

/** Counters from the monitor, and from the kernel for what the monitor does not count. */
export function qemuStats(lifecycle: QemuLifecycle): Stats {
  return {
    async domainStats(): Promise<DomainStats> {
      const { monitor, pid, definition } = lifecycle.running("count");
      const targets = new Map((definition.devices?.disks ?? []).map((disk) => [disk.alias?.name, disk.target?.dev]));
      const cpuTime = await cpuTimeOf(`/proc/${pid}/stat`);
      return {
        ...(cpuTime === undefined ? {} : { cpuTimeNanoseconds: cpuTime }),
        vcpus: await vcpuStats(monitor, pid),
        memory: await memoryStats(monitor, pid),
        blocks: await blockStats(monitor, targets),
        interfaces: (definition.devices?.interfaces ?? []).map((device, index) => ({
          alias: device.alias?.name ?? `net${index}`,
        })),
      };
    },
    dirtyRate: () => measureDirtyRate(lifecycle.running("watch the memory of").monitor),
  };
}

/** QEMU samples pages for this long; its answer is polled for at most a few times as long. */
const dirtyRateSeconds = 1;
const dirtyRatePolls = 50;
const dirtyRatePollMs = 100;

async function measureDirtyRate(monitor: QmpClient): Promise<number> {
  await monitor.execute("calc-dirty-rate", { "calc-time": dirtyRateSeconds });
  for (let poll = 0; poll < dirtyRatePolls; poll += 1) {
    await pause(dirtyRatePollMs);
    const answer = (await monitor.execute("query-dirty-rate")) as QmpDirtyRate;
    if (answer.status === "measured") return answer["dirty-rate"] ?? 0;
  }
  throw errors.StackCommandFailed("watch the machine's memory: QEMU did not finish counting");
}

// The shapes of the answers are QEMU's published schema for these commands.
interface QmpVcpu {
  readonly "cpu-index": number;
  readonly "thread-id": number;
}

interface QmpDirtyRate {
  readonly status: "unstarted" | "measuring" | "measured";
  readonly "dirty-rate"?: number;
}

interface QmpBlock {
  readonly qdev?: string;
  readonly stats: Readonly<Record<string, number>>;
}

async function vcpuStats(monitor: QmpClient, pid: number): Promise<VcpuStats[]> {
  const vcpus = (await monitor.execute("query-cpus-fast")) as QmpVcpu[];
  return Promise.all(
    vcpus.map(async (vcpu) => {
      const threadId = vcpu["thread-id"];
      const time = await cpuTimeOf(`/proc/${pid}/task/${threadId}/stat`);
      return { index: vcpu["cpu-index"], threadId, ...(time === undefined ? {} : { timeNanoseconds: time }) };
    }),
  );
}

async function memoryStats(monitor: QmpClient, pid: number): Promise<MemoryStats> {
  const summary = (await monitor.execute("query-memory-size-summary")) as Record<string, number>;
  const installed = (summary["base-memory"] ?? 0) + (summary["plugged-memory"] ?? 0);
  // A guest without a balloon has what was installed.
  const balloon = (await monitor.execute("query-balloon").catch(() => undefined)) as { actual?: number } | undefined;
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  return {
    actualBytes: balloon?.actual ?? installed,
    ...(resident === undefined ? {} : { residentBytes: Number(resident) * kibibyte }),
  };
}

async function blockStats(
  monitor: QmpClient,
  targets: ReadonlyMap<string | undefined, string | undefined>,
): Promise<BlockStats[]> {
  const devices = (await monitor.execute("query-blockstats")) as QmpBlock[];
  return devices.flatMap(({ qdev, stats }) => {
    // "/machine/peripheral/ua-root/virtio-backend" or the id itself.
    const alias = /^\/machine\/peripheral\/([^/]+)/.exec(qdev ?? "")?.[1] ?? qdev;
    if (alias === undefined || alias === "") return [];
    const target = targets.get(alias);
    return [
      {
        alias,
        ...(target === undefined ? {} : { target }),
        readBytes: stats["rd_bytes"] ?? 0,
        readRequests: stats["rd_operations"] ?? 0,
        writeBytes: stats["wr_bytes"] ?? 0,
        writeRequests: stats["wr_operations"] ?? 0,
        flushRequests: stats["flush_operations"] ?? 0,
      },
    ];
  });
}

/** User and system time of a process or thread; undefined when it has just ended. */
async function cpuTimeOf(statFile: string): Promise<number | undefined> {
  const stat = await readFile(statFile, "utf8").catch(() => undefined);
  // The name in parentheses may contain blanks; numbers begin after the last one.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields?.[11]) + Number(fields?.[12]);
  return Number.isFinite(ticks) ? ticks * tickNanoseconds : undefined;
}
