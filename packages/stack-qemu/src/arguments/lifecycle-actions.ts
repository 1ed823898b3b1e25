import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** What happens when the guest powers off, reboots or panics. */
export function addLifecycleActions(domain: DomainSection, plan: MachinePlan): void {
  domain.oneOf("onPoweroff", ["destroy"]);
  const reboot = domain.oneOf("onReboot", ["restart", "destroy"]) ?? "restart";
  const crash = domain.oneOf("onCrash", ["destroy", "preserve", "restart"]) ?? "destroy";
  if (crash === "restart" && canPanic(domain, plan)) {
    throw domain.refuse("onCrash", "a guest that has panicked is not started again; use destroy or preserve");
  }
  plan.addOption("-action", `reboot=${reboot === "restart" ? "reset" : "shutdown"}`);
  plan.addOption("-action", `panic=${crash === "preserve" ? "pause" : "shutdown"}`);
}

/** Without a device for it no panic is ever heard of, and what to do then is of no matter. */
function canPanic(domain: DomainSection, plan: MachinePlan): boolean {
  return plan.architecture.name === "s390x" || domain.requireChild("devices").children("panics").length > 0;
}
