import type { Domain } from "@polyvirt/domain";
import type { Timer } from "./definition-types.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

type TimerSection = Section<Timer>;

/** The guest's clock and the timers that drive it. */
export function addClock(domain: DomainSection, plan: MachinePlan): void {
  const clock = domain.child("clock");
  const base = clock === undefined ? "utc" : clockBase(clock, plan.host.now);
  const timers = clock?.children("timers") ?? [];
  const rtc = timers.find((timer) => timer.text("name") === "rtc");
  const catchup = rtc?.oneOf("tickpolicy", ["delay", "catchup"]) === "catchup";
  const source = clockSources[rtc?.oneOf("track", ["wall", "guest", "boot"]) ?? "none"];
  plan.addKeyValues("-rtc", `base=${base}`, { clock: source, driftfix: catchup ? "slew" : undefined });
  for (const timer of timers) addTimer(timer, plan);
}

/** What is said of a timer and does not concern it is left unread, and refused therefore. */
function addTimer(timer: TimerSection, plan: MachinePlan): void {
  const x86 = plan.architecture.name === "x86_64";
  const name = timer.oneOf("name", ["rtc", "pit", "hpet", "tsc", "kvmclock", "hypervclock", "armvtimer"]);
  const elsewhere = name === "armvtimer" ? plan.architecture.name !== "aarch64" : name !== "rtc" && !x86;
  if (elsewhere) throw timer.refuse("name", `${plan.architecture.name} machines do not have this timer; leave it out`);
  switch (name) {
    case "rtc":
      return requirePresent(timer);
    case "pit": {
      requirePresent(timer);
      const policy = timer.oneOf("tickpolicy", ["delay", "discard"]);
      // Only KVM's timer can lose ticks; the emulated one runs with the guest.
      if (policy !== undefined && plan.virtType === "kvm") {
        plan.addOption("-global", `kvm-pit.lost_tick_policy=${policy}`);
      }
      return;
    }
    case "hpet":
      // Late ticks are what it has, and there is no other policy.
      timer.oneOf("tickpolicy", ["delay"]);
      return plan.setMachine({ hpet: timer.toggle("present") });
    case "tsc":
      requirePresent(timer);
      return plan.setCpu(undefined, { "tsc-frequency": timer.number("frequency") });
    case "kvmclock": {
      const present = timer.toggle("present");
      if (present !== undefined && plan.virtType === "kvm") plan.setCpu(undefined, { kvmclock: present });
      return;
    }
    case "hypervclock": {
      const present = timer.toggle("present");
      if (present !== undefined && plan.virtType !== "qemu") plan.setCpu(undefined, { "hv-time": present });
      return;
    }
    case "armvtimer": {
      const policy = timer.oneOf("tickpolicy", ["delay", "discard"]);
      if (plan.virtType === "kvm")
        plan.setCpu(undefined, { "kvm-no-adjvtime": policy === undefined ? undefined : policy === "delay" });
      else if (policy !== undefined) throw timer.refuse("tickpolicy", "an emulated timer loses no ticks; leave it out");
      return requirePresent(timer);
    }
    case undefined:
      throw timer.refuse("name", "it must be given");
  }
}

/** For timers that the machine cannot be without. */
function requirePresent(timer: TimerSection): void {
  if (timer.toggle("present") === false) throw timer.refuse("present", "the machine cannot be without this timer");
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
