import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** The guest's clock and the timers that drive it. */
export function addClock(domain: DomainSection, plan: MachinePlan): void {
  const clock = domain.child("clock");
  const x86 = plan.architecture.name === "x86_64";
  const offset = clock?.oneOf("offset", ["utc", "localtime"]) ?? "utc";
  let driftfix: string | undefined;
  for (const timer of clock?.children("timers") ?? []) {
    const present = timer.toggle("present");
    const policy = timer.oneOf("tickpolicy", ["delay", "merge", "discard", "catchup"]);
    switch (timer.oneOf("name", ["rtc", "pit", "hpet", "tsc", "kvmclock", "hypervclock", "armvtimer"])) {
      case "rtc":
        if (policy === "catchup") driftfix = "slew";
        break;
      case "pit":
        // Only KVM's timer can lose ticks; the emulated one runs with the guest.
        if (policy !== undefined && plan.virtType === "kvm")
          plan.addOption("-global", `kvm-pit.lost_tick_policy=${policy}`);
        break;
      case "hpet":
        if (x86 && present !== undefined) plan.setMachine({ hpet: present });
        break;
      case "tsc":
        plan.setCpu(undefined, { "tsc-frequency": timer.number("frequency") });
        break;
      case "kvmclock":
        if (present !== undefined && plan.virtType === "kvm") plan.setCpu(undefined, { kvmclock: present });
        break;
      case "hypervclock":
        if (present !== undefined && plan.virtType !== "qemu") plan.setCpu(undefined, { "hv-time": present });
        break;
      case "armvtimer":
      case undefined:
        break;
    }
  }
  // s390x has no clock of this kind.
  if (plan.architecture.virtioBus !== "ccw") plan.addKeyValues("-rtc", `base=${offset}`, { driftfix });
}
