import { errors } from "@polyvirt/stack";
import { checkSocketPath } from "./character-device.ts";
import { keyValues } from "./option.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** VNC on unix sockets. Nothing listens on the network: virt-handler connects to the socket. */
export function addGraphics(domain: DomainSection, plan: MachinePlan): void {
  const graphics = domain.requireChild("devices").children("graphics");
  plan.addOption("-display", "none");
  for (const display of graphics) {
    display.oneOf("type", ["vnc"]);
    const listens = display.children("listens");
    const fromListen = listens.map((listen) => {
      listen.oneOf("type", ["socket"]);
      return listen.text("socket");
    });
    const socket = display.text("socket") ?? fromListen[0];
    // libvirt writes it in both places.
    if (fromListen.some((other) => other !== socket)) throw display.refuse("listens", "VNC has one socket");
    // -1 and autoport mean "not on the network" beside a socket.
    display.skip("port", "autoport");
    if (socket === undefined) throw errors.StackDefinitionRefused(`read ${display.path}: VNC needs a unix socket`);
    checkSocketPath(socket, display.pathOf("socket"));
    plan.addOption(
      "-vnc",
      keyValues(`unix:${socket}`, {
        share: display.oneOf("sharePolicy", ["allow-exclusive", "force-shared", "ignore"]),
      }),
    );
  }
}
