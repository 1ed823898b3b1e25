import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Configurator } from "../contract.ts";
import { guestProfile, virtioModel } from "./profile.ts";

const freePageReportingOff = "kubevirt.io/free-page-reporting-disabled";

export const memoryBalloon: Configurator = {
  name: "memory-balloon",
  configure(domain, vmi, context) {
    if (vmi.spec.domain.devices.autoattachMemBalloon === false) {
      domain.devices.memballoon = { model: "none" };
      return;
    }
    const { memBalloonStatsPeriod: period, freePageReporting } = context.settings;
    domain.devices.memballoon = {
      model: virtioModel(vmi, guestProfile(vmi, context)),
      freePageReporting: freePageReporting && mayReportFreePages(vmi) ? "on" : "off",
      ...(period === 0 ? {} : { stats: { period } }),
    };
  },
};

/** Returning pages to the host makes no sense where memory is reserved for the guest anyway, and costs latency there. */
function mayReportFreePages({ metadata, spec }: VirtualMachineInstance): boolean {
  const { cpu, memory } = spec.domain;
  const reserved =
    cpu?.dedicatedCpuPlacement === true || cpu?.realtime !== undefined || memory?.hugepages !== undefined;
  return !reserved && metadata.annotations?.[freePageReportingOff] !== "true";
}
