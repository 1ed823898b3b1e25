import type { BlockStats, DomainStats, InterfaceStats, MemoryStats, VcpuStats } from "@polyvirt/stack";

const kibibyte = 1024;
/** libvirt's number for a virtual processor that runs. */
const vcpuRunning = 1;

type Counter = number | string | undefined;

/**
 * The JSON of `DomainStatsResponse.domainStats`, in the shape that KubeVirt's node agent reads: every counter has a twin
 * that says whether it is known, and the capitals are those of Go types without JSON names.
 */
export function domainStatsDocument(machine: { name: string; uuid: string | undefined }, stats: DomainStats) {
  return {
    Name: machine.name,
    UUID: machine.uuid ?? "",
    Cpu: counters({ Time: stats.cpuTimeNanoseconds, User: undefined, System: undefined }),
    Memory: memory(stats.memory),
    MigrateDomainJobInfo: null,
    Vcpu: stats.vcpus.map(vcpu),
    Net: stats.interfaces.map(network),
    Block: stats.blocks.map(block),
    CPUMapSet: false,
    CPUMap: null,
    DirtyRate: null,
    Load: null,
  };
}

function memory(stats: MemoryStats) {
  const kib = (bytes: number | undefined): number | undefined =>
    bytes === undefined ? undefined : Math.floor(bytes / kibibyte);
  return counters({
    Unused: kib(stats.unusedBytes),
    Cached: undefined,
    Available: kib(stats.availableBytes),
    ActualBalloon: kib(stats.actualBytes),
    RSS: kib(stats.residentBytes),
    SwapIn: undefined,
    SwapOut: undefined,
    MajorFault: undefined,
    MinorFault: undefined,
    Usable: undefined,
    Total: kib(stats.actualBytes),
  });
}

function vcpu({ timeNanoseconds }: VcpuStats) {
  return counters({ State: vcpuRunning, Time: timeNanoseconds, Wait: undefined, Delay: undefined });
}

function network({ alias, receivedBytes, sentBytes }: InterfaceStats) {
  return {
    ...counters({ Name: alias, Alias: alias, RxBytes: receivedBytes, TxBytes: sentBytes }),
    ...counters({ RxPkts: undefined, RxErrs: undefined, RxDrop: undefined }),
    ...counters({ TxPkts: undefined, TxErrs: undefined, TxDrop: undefined }),
  };
}

function block(stats: BlockStats) {
  return {
    ...counters({ Name: stats.target ?? stats.alias }),
    // The volume's name stands behind the prefix of names that users give.
    Alias: stats.alias.replace(/^ua-/, ""),
    ...counters({ RdReqs: stats.readRequests, RdBytes: stats.readBytes, RdTimes: undefined }),
    ...counters({ WrReqs: stats.writeRequests, WrBytes: stats.writeBytes, WrTimes: undefined }),
    ...counters({ FlReqs: stats.flushRequests, FlTimes: undefined, Errors: undefined }),
  };
}

/** `{ Time: 5, User: undefined }` → `{ TimeSet: true, Time: 5, UserSet: false, User: 0 }`. */
function counters(values: Readonly<Record<string, Counter>>): Record<string, number | string | boolean> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => [
      [`${name}Set`, value !== undefined],
      [name, value ?? 0],
    ]),
  );
}
