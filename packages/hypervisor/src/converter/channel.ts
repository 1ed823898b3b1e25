import type { Configurator } from "../contract.ts";
import { refuse } from "./refuse.ts";

/** Ports between guest and host: the guest agent's always, the downward metrics' on request. */
export const channel: Configurator = {
  name: "channel",
  configure(domain, vmi, context) {
    const channels = (domain.devices.channels ??= []);
    channels.push({
      type: "unix",
      sources: [{ mode: "bind", path: context.paths.guestAgent }],
      target: { type: "virtio", name: "org.qemu.guest_agent.0" },
    });
    if (vmi.spec.domain.devices.downwardMetrics === undefined) return;
    const path = context.paths.downwardMetrics;
    if (path === undefined)
      throw refuse("spec.domain.devices.downwardMetrics", "the launcher serves no downward metrics");
    channels.push({
      type: "unix",
      sources: [{ mode: "bind", path }],
      target: { type: "virtio", name: "org.github.vhostmd.1" },
    });
  },
};
