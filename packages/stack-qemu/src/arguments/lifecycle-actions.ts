import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** What happens when the guest powers off, reboots or panics. */
export function addLifecycleActions(domain: DomainSection, plan: MachinePlan): void {
  domain.oneOf("onPoweroff", ["destroy"]);
  const reboot = domain.oneOf("onReboot", ["restart", "destroy"]) ?? "restart";
  const crash = domain.oneOf("onCrash", ["destroy", "preserve"]) ?? "destroy";
  plan.addOption("-action", `reboot=${reboot === "restart" ? "reset" : "shutdown"}`);
  plan.addOption("-action", `panic=${crash === "destroy" ? "shutdown" : "pause"}`);
}
