import type { Domain } from "@polyvirt/domain";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** The guest's clock and the timers that drive it. */
export function addClock(domain: DomainSection, plan: MachinePlan): void {
  const clock = domain.child("clock");
  const x86 = plan.architecture.name === "x86_64";
  const base = clock === undefined ? "utc" : clockBase(clock, plan.host.now);
  let driftfix: string | undefined;
  let source: string | undefined;
  for (const timer of clock?.children("timers") ?? []) {
    const present = timer.toggle("present");
    const policy = timer.oneOf("tickpolicy", ["delay", "merge", "discard", "catchup"]);
    switch (timer.oneOf("name", ["rtc", "pit", "hpet", "tsc", "kvmclock", "hypervclock", "armvtimer"])) {
      case "rtc":
        if (policy === "catchup") driftfix = "slew";
        source = clockSources[timer.oneOf("track", ["wall", "guest", "boot"]) ?? "none"];
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
  plan.addKeyValues("-rtc", `base=${base}`, { clock: source, driftfix });
}

/** What drives the clock: the host's, or the time that the guest runs. */
const clockSources: Readonly<Record<string, string>> = { wall: "host", guest: "vm", boot: "rt" };

/** Where the clock begins: by name, or as a moment for zones and shifts that QEMU does not know. */
function clockBase(clock: Section<NonNullable<Domain["clock"]>>, now: number): string {
  switch (clock.oneOf("offset", ["utc", "localtime", "timezone", "variable"])) {
    case "localtime":
      return "localtime";
    case "timezone": {
      const timeZone = clock.requireText("timezone");
      try {
        return moment(new Date(new Date(now).toLocaleString("sv-SE", { timeZone }).replace(" ", "T") + "Z").getTime());
      } catch {
        throw clock.refuse("timezone", "this time zone is not known");
      }
    }
    case "variable": {
      const seconds = Number(clock.text("adjustment") ?? 0);
      if (!Number.isSafeInteger(seconds)) throw clock.refuse("adjustment", "it must be a number of seconds");
      const basis = clock.oneOf("basis", ["utc", "localtime"]);
      const zone = basis === "localtime" ? new Date(now).getTimezoneOffset() * 60_000 : 0;
      return moment(now - zone + seconds * 1000);
    }
    case "utc":
    case undefined:
      return "utc";
  }
}

function moment(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19);
}
