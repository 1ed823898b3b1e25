import { deviceId, placement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Watchdogs, and what happens when the guest no longer feeds them. */
export function addWatchdogs(domain: DomainSection, plan: MachinePlan): void {
  for (const [index, watchdog] of domain.requireChild("devices").children("watchdogs").entries()) {
    const id = deviceId(watchdog, `watchdog${index}`, plan);
    const model = watchdog.oneOf("model", ["i6300esb", "ib700", "diag288"]) ?? "i6300esb";
    const action =
      watchdog.oneOf("action", ["reset", "shutdown", "poweroff", "pause", "none", "inject-nmi"]) ?? "reset";
    plan.addDevice(model, { id, ...(model === "i6300esb" && placement(watchdog, plan)) });
    plan.addOption("-action", `watchdog=${action}`);
  }
}
