import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Whether the guest may go to sleep, in memory or on disk. */
export function addPowerManagement(domain: DomainSection, plan: MachinePlan): void {
  const states = domain.child("pm");
  if (states === undefined) return;
  const memory = states.child("suspendToMem")?.toggle("enabled");
  const disk = states.child("suspendToDisk")?.toggle("enabled");
  if (plan.architecture.name !== "x86_64") {
    throw domain.refuse("pm", `${plan.architecture.name} machines have no states of sleep; leave it out`);
  }
  const device = plan.architecture.pciBus === "pcie.0" ? "ICH9-LPC" : "PIIX4_PM";
  if (memory !== undefined) plan.addOption("-global", `${device}.disable_s3=${memory ? 0 : 1}`);
  if (disk !== undefined) plan.addOption("-global", `${device}.disable_s4=${disk ? 0 : 1}`);
}
