import { checkSocketPath } from "./character-device.ts";
import type { Interface, PortForward } from "./definition-types.ts";
import type { MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

const program = "/usr/bin/passt";

/**
 * A network by passt: a program beside QEMU that takes the guest's frames from a socket and makes ordinary connections of
 * the pod out of them, and the other way round for the ports that are forwarded. It needs no rights.
 */
export function passtNetdev(device: Section<Interface>, id: string, plan: MachinePlan) {
  const path = `${plan.host.stateDirectory}/passt-${id}.sock`;
  checkSocketPath(path, device.path);
  plan.requireFile(program, `${device.path}: this network needs the package passt in the launcher's image`);
  const forwards = device.children("portForwards");
  plan.addCompanion({
    name: "passt",
    program,
    args: [
      "--foreground",
      // It ends with QEMU's connection.
      "--one-off",
      "--socket",
      path,
      ...portArguments("tcp", forwards),
      ...portArguments("udp", forwards),
    ],
    directories: [plan.host.stateDirectory],
    socket: path,
  });
  return { type: "stream", id, server: false, addr: { type: "unix", path } };
}

/** `--tcp-ports 10.1.2.3/80,443`; all of them for a forward without ranges. */
function portArguments(proto: "tcp" | "udp", forwards: readonly Section<PortForward>[]): string[] {
  const own = forwards.filter((forward) => (forward.oneOf("proto", ["tcp", "udp"]) ?? "tcp") === proto);
  const specs = own.map((forward) => {
    const address = forward.text("address");
    const ranges = forward.children("ranges").map((range) => {
      const start = range.number("start") ?? 0;
      const end = range.number("end") ?? start;
      if (start < 1 || end > 65_535 || end < start) throw range.refuse("start", "this is not a range of ports");
      return start === end ? String(start) : `${start}-${end}`;
    });
    if (ranges.length === 0 && address !== undefined)
      throw forward.refuse("address", "all ports can only be forwarded without an address; list the ports");
    if (address !== undefined && !/^[0-9.]+$/.test(address))
      throw forward.refuse("address", "only an IPv4 address can be given");
    const list = ranges.length === 0 ? "all" : ranges.join(",");
    return address === undefined ? list : `${address}/${list}`;
  });
  return (specs.length === 0 ? ["none"] : specs).flatMap((spec) => [`--${proto}-ports`, spec]);
}
