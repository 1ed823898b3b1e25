import type { VirtualMachineInstance } from "@polyvirt/api";
import { parseArchitecture } from "../architecture.ts";
import { architectureProfiles } from "../arch/index.ts";
import type { DefaultsContext } from "../contract.ts";
import { bytesOf, formatBytes } from "../quantity.ts";
import { isUnset } from "./step.ts";

/** More vCPUs than this are never prepared for hotplug, whatever the ratio says. */
const maxPreparedVcpus = 512;
const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

/** Room for sockets that may be added while the guest runs. */
export function setMaxSockets(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  const { cpu } = draft.spec.domain;
  const architecture = parseArchitecture(draft.spec.architecture ?? "");
  if (architecture === undefined || !architectureProfiles[architecture].cpuHotplug) return;
  if (!config.liveUpdate.enabled || cpu === undefined || !isUnset(cpu.maxSockets)) return;
  // Sockets that may come later would belong to no node of the mapped topology.
  if (cpu.numa?.guestMappingPassthrough !== undefined) return;
  const sockets = cpu.sockets || 1;
  const perSocket = (cpu.cores || 1) * (cpu.threads || 1);
  const configured = config.liveUpdate.maxCpuSockets;
  const wanted = configured ?? sockets * config.liveUpdate.maxHotplugRatio;
  const affordable = Math.max(Math.floor(maxPreparedVcpus / perSocket), 1);
  cpu.maxSockets = Math.max(sockets, Math.min(wanted, affordable));
}

/** Block size in which memory is added: whole huge pages of 1 Gi where the guest uses them. */
export function memoryBlockBytes(hugepageSize: string | undefined): number {
  return hugepageSize === "1Gi" ? gibibyte : 2 * mebibyte;
}

/** Room for memory that may be added while the guest runs; left out where it cannot work. */
export function setMaxGuestMemory(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  const { domain } = draft.spec;
  const architecture = parseArchitecture(draft.spec.architecture ?? "");
  if (architecture === undefined || !architectureProfiles[architecture].memoryHotplug) return;
  if (!config.liveUpdate.enabled || domain.memory === undefined || !isUnset(domain.memory.maxGuest)) return;
  const unsuitable =
    domain.cpu?.realtime !== undefined ||
    domain.cpu?.numa?.guestMappingPassthrough !== undefined ||
    domain.launchSecurity !== undefined;
  if (unsuitable) return;
  const guest = bytesOf(domain.memory.guest);
  const maximum =
    config.liveUpdate.maxGuest === undefined
      ? guest * config.liveUpdate.maxHotplugRatio
      : bytesOf(config.liveUpdate.maxGuest);
  const block = memoryBlockBytes(domain.memory.hugepages?.pageSize);
  if (guest < gibibyte || guest % block !== 0 || maximum % block !== 0 || maximum < guest) return;
  domain.memory.maxGuest = formatBytes(maximum);
}
