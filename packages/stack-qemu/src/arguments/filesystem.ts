import { checkSocketPath } from "./character-device.ts";
import { deviceId, placement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Folders that a virtiofs daemon, which runs already, shares with the guest. */
export function addFilesystems(domain: DomainSection, plan: MachinePlan): void {
  const shared = domain.child("memoryBacking")?.child("access")?.text("mode") === "shared";
  for (const [index, filesystem] of domain.requireChild("devices").children("filesystems").entries()) {
    filesystem.oneOf("type", ["mount"]);
    filesystem.oneOf("accessmode", ["passthrough"]);
    const driver = filesystem.requireChild("driver");
    driver.oneOf("type", ["virtiofs"]);
    const source = filesystem.requireChild("source");
    const socket = source.text("socket");
    if (socket === undefined) throw filesystem.refuse("source", "it must name the socket of a running virtiofs daemon");
    checkSocketPath(socket, source.pathOf("socket"));
    if (!shared) throw filesystem.refuse("driver", "virtiofs needs guest memory that is shared (memoryBacking.access)");
    const id = deviceId(filesystem, `fs${index}`, plan);
    plan.requireFile(socket, `${filesystem.path}: its virtiofs daemon does not listen`);
    plan.addChardev("socket", { id: `char${id}`, path: socket });
    const suffix = plan.architecture.virtioBus;
    plan.addDevice(`vhost-user-fs-${suffix}`, {
      id,
      chardev: `char${id}`,
      tag: filesystem.requireChild("target").requireText("dir"),
      "queue-size": driver.number("queue"),
      ...placement(filesystem, plan),
    });
  }
}
