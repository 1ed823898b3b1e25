import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** The lowest address that is not reserved. */
const firstAddress = 3;

/** A socket between guest and node, which the node's kernel carries. */
export function addVsock(domain: DomainSection, plan: MachinePlan): void {
  const vsock = domain.requireChild("devices").child("vsock");
  if (vsock === undefined) return;
  const cid = vsock.requireChild("cid");
  if (cid.toggle("auto") ?? false) throw cid.refuse("auto", "the address must be chosen before the start");
  const address = cid.number("address");
  if (address === undefined || address < firstAddress)
    throw cid.refuse("address", `it must be ${firstAddress} or more`);
  const { driver, known } = virtioDriver(plan, "vsock", vsock.text("model"));
  if (!known) throw vsock.refuse("model", "this model is not known");
  plan.requireFile("/dev/vhost-vsock", `${vsock.path}: sockets between guest and node need the kernel's vhost_vsock`);
  const id = deviceId(vsock, "vsock0", plan);
  const at = { ...virtioProperties(vsock.child("driver")), ...placement(vsock, plan) };
  plan.addDevice(`vhost-${driver.replace(/^virtio-/, "")}`, { id, "guest-cid": address, ...at });
}
