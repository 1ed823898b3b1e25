import { deviceId, placement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Watchdogs, and what happens when the guest no longer feeds them. */
export function addWatchdogs(domain: DomainSection, plan: MachinePlan): void {
  const watchdogs = domain.requireChild("devices").children("watchdogs");
  const actions = new Set<string>();
  for (const [index, watchdog] of watchdogs.entries()) {
    const model = watchdog.oneOf("model", ["i6300esb", "ib700", "diag288", "itco"]) ?? "i6300esb";
    actions.add(watchdog.oneOf("action", ["reset", "shutdown", "poweroff", "pause", "none", "inject-nmi"]) ?? "reset");
    if (model === "itco") {
      if (plan.architecture.pciBus !== "pcie.0" || plan.architecture.name !== "x86_64") {
        throw watchdog.refuse("model", "only q35 machines have it, as a part of them");
      }
      watchdog.skip("alias");
      // The machine's own does nothing until it is told to.
      plan.addOption("-global", "ICH9-LPC.noreboot=off");
      continue;
    }
    const id = deviceId(watchdog, `watchdog${index}`, plan);
    plan.addDevice(model, { id, ...(model === "i6300esb" && placement(watchdog, plan)) });
  }
  const second = watchdogs[1];
  if (second !== undefined && actions.size > 1) {
    throw second.refuse("action", "QEMU has one action for all watchdogs; give them the same");
  }
  for (const action of actions) plan.addOption("-action", `watchdog=${action}`);
}
