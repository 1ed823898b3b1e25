import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/**
 * What the firmware tries, and in which order. A definition says it at each device, or once for kinds of devices; then, as
 * in libvirt, the first device of each kind is meant, and the first disk where nothing is said at all.
 */
export function addBootOrder(domain: DomainSection, plan: MachinePlan): void {
  const devices = domain.requireChild("devices");
  const disks = devices.children("disks");
  const interfaces = devices.children("interfaces");
  const kinds = domain
    .requireChild("os")
    .children("bootDevices")
    .map((device) => ({ device, kind: device.oneOf("dev", ["hd", "cdrom", "network", "fd"]) ?? "hd" }));
  const single = [...disks, ...interfaces, ...devices.children("hostdevs"), ...devices.children("redirdevs")].find(
    (device) => device.has("boot"),
  );
  const clash = kinds[0]?.device;
  if (single !== undefined && clash !== undefined) {
    throw clash.refuse("dev", `${single.path} has an order of its own; give one for all devices, or none`);
  }
  if (single !== undefined) return;
  const diskOf = (kind: string) => disks.find((disk) => (disk.text("device") ?? "disk") === kind);
  const order = kinds.length === 0 ? [{ kind: "hd" as const }] : kinds;
  for (const [position, { kind }] of order.entries()) {
    const first = {
      hd: () => disks.find((disk) => ["disk", "lun"].includes(disk.text("device") ?? "disk")),
      cdrom: () => diskOf("cdrom"),
      fd: () => diskOf("floppy"),
      network: () => interfaces[0],
    }[kind]();
    if (first !== undefined) plan.setBootIndex(first.path, position + 1);
  }
}
