import type { VirtualMachineInstance } from "@polyvirt/api";
import type { MemoryOverhead, OverheadOptions } from "../contract.ts";
import { bytesOf, cpusOf } from "../quantity.ts";
import type { MemoryTerm } from "./memory-term.ts";
import { usesVfio, wantsLockedMemory } from "./device-use.ts";
import { vcpuCount } from "../vcpus.ts";

const Mi = 1024 ** 2;
const Gi = 1024 ** 3;

/** The processes beside the guest when the stack says nothing about its own cost. */
const launcherTerms: readonly MemoryTerm[] = [
  { name: "virt-launcher-monitor", bytes: 25 * Mi },
  { name: "virt-launcher", bytes: 100 * Mi },
  { name: "virtlogd", bytes: 25 * Mi },
  { name: "virtqemud", bytes: 40 * Mi },
  { name: "qemu", bytes: 50 * Mi },
];

interface OptionalTerm {
  readonly name: string;
  readonly bytes: (vmi: VirtualMachineInstance, options: OverheadOptions) => number;
}

const execProbes = ({ spec }: VirtualMachineInstance): number =>
  [spec.livenessProbe, spec.readinessProbe].filter((probe) => probe?.exec !== undefined).length;

/** Every reason why a guest costs more than its own memory. A term of 0 bytes is left out of the explanation. */
const terms: readonly OptionalTerm[] = [
  { name: "page-tables", bytes: pageTables },
  { name: "vcpus", bytes: (vmi) => 8 * Mi * vcpuCount(vmi.spec.domain) },
  { name: "io-thread", bytes: () => 8 * Mi },
  { name: "graphics", bytes: ({ spec }) => (spec.domain.devices.autoattachGraphicsDevice === false ? 0 : 32 * Mi) },
  { name: "arm64-firmware", bytes: (_, { architecture }) => (architecture === "arm64" ? 128 * Mi : 0) },
  { name: "vfio", bytes: ({ spec }) => (usesVfio(spec) ? Gi : 0) },
  { name: "downward-metrics", bytes: ({ spec }) => (spec.volumes?.some((volume) => volume.downwardMetrics) ? Mi : 0) },
  { name: "exec-probes", bytes: (vmi) => (execProbes(vmi) === 0 ? 0 : (100 + 10 * execProbes(vmi)) * Mi) },
  { name: "sev", bytes: ({ spec }) => (usesSev(spec.domain.launchSecurity) ? 256 * Mi : 0) },
  { name: "tpm", bytes: ({ spec }) => (isTpmEnabled(spec.domain.devices.tpm) ? 53 * Mi : 0) },
  { name: "guaranteed-qos", bytes: (vmi) => (wantsGuaranteedQos(vmi) ? 100 * Mi : 0) },
  { name: "reserved", bytes: ({ spec }) => bytesOf(spec.domain.memory?.reservedOverhead?.addedOverhead) },
];

/**
 * What the launcher pod needs beside guest memory. The ratio stretches the sum as the administrator asked; the network
 * bindings' own cost comes after it, because it does not grow with the guest.
 */
export function memoryOverhead(vmi: VirtualMachineInstance, options: OverheadOptions): MemoryOverhead {
  const fixed =
    options.virtLauncherOverheadBytes === undefined
      ? launcherTerms
      : [{ name: "virt-launcher", bytes: options.virtLauncherOverheadBytes }];
  const found: MemoryTerm[] = [
    ...fixed,
    ...terms.map(({ name, bytes }) => ({ name, bytes: bytes(vmi, options) })).filter(({ bytes }) => bytes > 0),
  ];
  const ratio = Number(options.ratio ?? "1");
  if (Number.isFinite(ratio) && ratio > 1) {
    found.push({ name: "ratio", bytes: Math.trunc(Math.ceil(sum(found) / 1000) * (ratio - 1)) * 1000 });
  }
  found.push(...networkTerms(vmi, options));
  return { bytes: sum(found), terms: found };
}

/** One table entry of 8 bytes for each 4 KiB page of guest memory: a 512th of it. */
function pageTables({ spec }: VirtualMachineInstance): number {
  const { memory, resources } = spec.domain;
  const guest = Math.max(bytesOf(resources?.requests?.["memory"]), bytesOf(memory?.guest));
  return Math.floor((Math.ceil(guest / 1000) * 1000) / 512);
}

function networkTerms({ spec }: VirtualMachineInstance, options: OverheadOptions): MemoryTerm[] {
  const interfaces = spec.domain.devices.interfaces ?? [];
  const found: MemoryTerm[] = [];
  if (interfaces.some(({ passtBinding }) => passtBinding !== undefined)) found.push({ name: "passt", bytes: 250 * Mi });
  const bindings = new Set(interfaces.map(({ binding }) => binding?.name).filter((name) => name !== undefined));
  for (const name of bindings) {
    const bytes = bytesOf(options.networkBindings?.[name]?.computeResourceOverhead?.requests?.["memory"]);
    if (bytes > 0) found.push({ name: `network-binding-${name}`, bytes });
  }
  return found;
}

function usesSev(security: VirtualMachineInstance["spec"]["domain"]["launchSecurity"]): boolean {
  return security?.sev !== undefined || security?.snp !== undefined;
}

function isTpmEnabled(tpm: VirtualMachineInstance["spec"]["domain"]["devices"]["tpm"]): boolean {
  return tpm !== undefined && tpm.enabled !== false;
}

/** Equal requests and limits of CPU and memory: Kubernetes then gives the pod its strictest class, and no slack. */
function wantsGuaranteedQos({ spec }: VirtualMachineInstance): boolean {
  if (spec.domain.cpu?.dedicatedCpuPlacement === true) return true;
  const { requests, limits } = spec.domain.resources ?? {};
  const cpu = cpusOf(limits?.["cpu"]);
  const memory = bytesOf(limits?.["memory"]);
  return cpu > 0 && memory > 0 && cpu === cpusOf(requests?.["cpu"]) && memory === bytesOf(requests?.["memory"]);
}

function sum(list: readonly MemoryTerm[]): number {
  return list.reduce((total, { bytes }) => total + bytes, 0);
}

/** How much memory the VMM may lock: everything it maps, when devices or the user need it to stay in place. */
export function memlockSize(vmi: VirtualMachineInstance, options: OverheadOptions): MemoryOverhead | undefined {
  if (!wantsLockedMemory(vmi.spec)) return undefined;
  const { memory } = vmi.spec.domain;
  const guest = Math.max(bytesOf(memory?.maxGuest), bytesOf(memory?.guest));
  const overhead = memoryOverhead(vmi, options);
  // Devices map their own registers too: KubeVirt and libvirt both allow one more gibibyte.
  const found = [
    { name: "guest-memory", bytes: guest },
    { name: "overhead", bytes: overhead.bytes },
    { name: "device-memory", bytes: Gi },
  ];
  return { bytes: sum(found), terms: found };
}
