import type { Domain } from "@polyvirt/domain";
import { setTimeout as pause } from "node:timers/promises";
import {
  errors,
  type BlockStats,
  type DomainStats,
  type InterfaceStats,
  type MemoryStats,
  type Stats,
  type VcpuStats,
} from "@polyvirt/stack";
import type { LibvirtLifecycle } from "./lifecycle/libvirt-lifecycle.ts";
import { procedures } from "./rpc/remote-program.ts";
import { readParameters } from "./rpc/typed-parameter.ts";

/** Groups of counters: processor time, balloon, virtual processors, network cards, disks. */
const groups = 2 | 4 | 8 | 16 | 32;
const kibibyte = 1024;

export function libvirtStats(lifecycle: LibvirtLifecycle): Stats {
  return {
    async domainStats() {
      const { handle, definition } = lifecycle.running("count");
      const { records } = await lifecycle.call(
        procedures.connectGetAllDomainStats,
        { domains: [handle], groups, flags: 0 },
        "count the machine's work",
      );
      return readStats(readParameters(records[0]?.parameters ?? []), definition);
    },
    dirtyRate: () => measureDirtyRate(lifecycle),
  };
}

const dirtyRateGroup = 512;
/** libvirt's number for a calculation that has ended. */
const measured = 2;
const dirtyRateSeconds = 1;
const dirtyRatePolls = 50;
const dirtyRatePollMs = 100;

async function measureDirtyRate(lifecycle: LibvirtLifecycle): Promise<number> {
  const { handle } = lifecycle.running("watch the memory of");
  const what = "watch the machine's memory";
  const request = { domain: handle, seconds: dirtyRateSeconds, flags: 0 };
  await lifecycle.call(procedures.domainStartDirtyRateCalc, request, what);
  for (let poll = 0; poll < dirtyRatePolls; poll += 1) {
    await pause(dirtyRatePollMs);
    const asked = { domains: [handle], groups: dirtyRateGroup, flags: 0 };
    const { records } = await lifecycle.call(procedures.connectGetAllDomainStats, asked, what);
    const counters = readParameters(records[0]?.parameters ?? []);
    if (number(counters, "dirtyrate.calc_status") === measured)
      return number(counters, "dirtyrate.megabytes_per_second") ?? 0;
  }
  throw errors.StackCommandFailed(`${what}: libvirt did not finish counting`);
}

type Counters = ReadonlyMap<string, number | boolean | string>;

/** libvirt's flat names, such as `block.0.rd.bytes`, in the shape of the contract. */
export function readStats(counters: Counters, definition: Domain): DomainStats {
  const cpuTime = number(counters, "cpu.time");
  return {
    ...(cpuTime === undefined ? {} : { cpuTimeNanoseconds: cpuTime }),
    vcpus: vcpuStats(counters),
    memory: memoryStats(counters),
    blocks: blockStats(counters, definition),
    interfaces: interfaceStats(counters, definition),
  };
}

/** Processors that are not plugged in have no counters. */
function vcpuStats(counters: Counters): VcpuStats[] {
  return indices(number(counters, "vcpu.maximum") ?? 0).flatMap((index) => {
    if (!counters.has(`vcpu.${index}.state`)) return [];
    const time = number(counters, `vcpu.${index}.time`);
    return [{ index, ...(time === undefined ? {} : { timeNanoseconds: time }) }];
  });
}

function memoryStats(counters: Counters): MemoryStats {
  const bytes = (name: string): number | undefined => {
    const value = number(counters, name);
    return value === undefined ? undefined : value * kibibyte;
  };
  const [resident, available, unused] = ["balloon.rss", "balloon.available", "balloon.unused"].map(bytes);
  return {
    actualBytes: bytes("balloon.current") ?? 0,
    ...(resident === undefined ? {} : { residentBytes: resident }),
    ...(available === undefined ? {} : { availableBytes: available }),
    ...(unused === undefined ? {} : { unusedBytes: unused }),
  };
}

function blockStats(counters: Counters, definition: Domain): BlockStats[] {
  return indices(number(counters, "block.count") ?? 0).map((index) => {
    const target = String(counters.get(`block.${index}.name`) ?? "");
    const disk = definition.devices?.disks?.find((entry) => entry.target?.dev === target);
    const counter = (name: string): number => number(counters, `block.${index}.${name}`) ?? 0;
    return {
      alias: disk?.alias?.name ?? target,
      target,
      readBytes: counter("rd.bytes"),
      readRequests: counter("rd.reqs"),
      writeBytes: counter("wr.bytes"),
      writeRequests: counter("wr.reqs"),
      flushRequests: counter("fl.reqs"),
    };
  });
}

/** libvirt counts cards whose host end it knows; every card of the definition is listed all the same. */
function interfaceStats(counters: Counters, definition: Domain): InterfaceStats[] {
  const counted = new Map(
    indices(number(counters, "net.count") ?? 0).map((index) => [counters.get(`net.${index}.name`), index] as const),
  );
  return (definition.devices?.interfaces ?? []).map((device, position) => {
    const index = counted.get(device.target?.dev);
    const received = index === undefined ? undefined : number(counters, `net.${index}.rx.bytes`);
    const sent = index === undefined ? undefined : number(counters, `net.${index}.tx.bytes`);
    return {
      alias: device.alias?.name ?? `net${position}`,
      ...(received === undefined ? {} : { receivedBytes: received }),
      ...(sent === undefined ? {} : { sentBytes: sent }),
    };
  });
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function number(counters: Counters, name: string): number | undefined {
  const value = counters.get(name);
  return typeof value === "number" ? value : undefined;
}
