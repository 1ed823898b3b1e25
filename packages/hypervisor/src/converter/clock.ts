import type { Clock, Timer } from "@polyvirt/api";
import type { DomainClockTimer } from "@polyvirt/domain";
import type { Configurator } from "../contract.ts";

/** The VMI's timers under libvirt's names. */
const timerNames = {
  hpet: "hpet",
  hyperv: "hypervclock",
  kvm: "kvmclock",
  pit: "pit",
  rtc: "rtc",
} as const satisfies Record<keyof Timer, string>;

const yesNo = (value: boolean): "yes" | "no" => (value ? "yes" : "no");

export const clock: Configurator = {
  name: "clock",
  configure(domain, vmi) {
    const given = vmi.spec.domain.clock;
    const frequency = vmi.status?.topologyHints?.tscFrequency;
    if (given === undefined && frequency === undefined) return;
    const timers = timersOf(given);
    if (frequency !== undefined) timers.push({ name: "tsc", frequency });
    domain.clock = { ...offsetOf(given), timers: timers.length === 0 ? undefined : timers };
  },
};

function offsetOf(given: Clock | undefined) {
  if (given?.timezone !== undefined) return { offset: "timezone", timezone: given.timezone } as const;
  const seconds = given?.utc?.offsetSeconds;
  if (seconds === undefined) return { offset: "utc" } as const;
  return { offset: "variable", adjustment: `${seconds}`, basis: "utc" } as const;
}

function timersOf(given: Clock | undefined): DomainClockTimer[] {
  const timers: DomainClockTimer[] = [];
  for (const [key, name] of Object.entries(timerNames) as [keyof Timer, string][]) {
    const timer: { present?: boolean; tickPolicy?: string; track?: string } | undefined = given?.timer?.[key];
    if (timer === undefined) continue;
    timers.push({
      name,
      present: timer.present === undefined ? undefined : yesNo(timer.present),
      tickpolicy: timer.tickPolicy || undefined,
      track: timer.track || undefined,
    });
  }
  return timers;
}
