import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import { parseNumberSet } from "./number-set.ts";
import type { Section } from "./section.ts";

/** Where the threads of the machine run. They are put there when they exist, before the guest runs. */
export function addThreadPlacement(domain: DomainSection, plan: MachinePlan): void {
  const vcpu = domain.child("vcpu");
  const tuning = domain.child("cputune");
  const everywhere = vcpu === undefined ? undefined : cpusOf(vcpu);
  const count = vcpu?.number("value") ?? 1;
  const vcpus = new Map<number, readonly number[]>();
  if (everywhere !== undefined) for (let number = 0; number < count; number += 1) vcpus.set(number, everywhere);
  for (const pin of tuning?.children("vcpupins") ?? []) {
    const number = pin.number("vcpu") ?? 0;
    if (number >= count) throw pin.refuse("vcpu", `the machine has ${count} CPUs, numbered from 0`);
    vcpus.set(number, requireCpus(pin));
  }
  const iothreads = new Map<string, readonly number[]>();
  for (const pin of tuning?.children("iothreadpins") ?? []) {
    iothreads.set(`iothread${pin.number("iothread") ?? 0}`, requireCpus(pin));
  }
  const emulator = tuning?.child("emulatorpin");
  plan.placement = { vcpus, iothreads, emulator: emulator === undefined ? everywhere : requireCpus(emulator) };
}

type Placed = Section<{ cpuset?: string | undefined }>;

function cpusOf(section: Placed): readonly number[] | undefined {
  const text = section.text("cpuset");
  if (text === undefined) return undefined;
  const cpus = parseNumberSet(text);
  if (cpus === undefined) throw section.refuse("cpuset", "this is not a list of CPUs");
  return cpus;
}

function requireCpus(section: Placed): readonly number[] {
  const cpus = cpusOf(section);
  if (cpus === undefined) throw section.refuse("cpuset", "it must be given");
  return cpus;
}
