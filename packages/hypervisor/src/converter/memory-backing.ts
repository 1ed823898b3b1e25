import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Configurator } from "../contract.ts";
import { bytesOf } from "../quantity.ts";
import { guestProfile } from "./profile.ts";

const memfdAnnotation = "kubevirt.io/memfd";

/** Where guest memory comes from: huge pages, and shared with the daemons that read it directly. */
export const memoryBacking: Configurator = {
  name: "memory-backing",
  configure(domain, vmi, context) {
    const pageSize = vmi.spec.domain.memory?.hugepages?.pageSize;
    const memfd = guestProfile(vmi, context).memfd && vmi.metadata.annotations?.[memfdAnnotation] !== "false";
    const shared = isShared(vmi);
    if (pageSize === undefined && !shared) return;
    domain.memoryBacking = {
      hugepages: pageSize === undefined ? undefined : { pages: [{ size: bytesOf(pageSize) / 1024, unit: "KiB" }] },
      source: memfd ? { type: "memfd" } : undefined,
      access: shared ? { mode: "shared" } : undefined,
    };
  },
};

function isShared({ spec }: VirtualMachineInstance): boolean {
  const { filesystems = [], interfaces = [] } = spec.domain.devices;
  return filesystems.length > 0 || interfaces.some(({ passtBinding }) => passtBinding !== undefined);
}
