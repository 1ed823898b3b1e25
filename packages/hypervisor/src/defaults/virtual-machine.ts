import type { VirtualMachine } from "@polyvirt/api";
import { architectureProfiles } from "../arch/index.ts";
import { parseArchitecture } from "../architecture.ts";
import type { DefaultsContext } from "../contract.ts";
import { isUnset, type DefaultsStep, type MachineDefaultsStep } from "./step.ts";

const clusterKinds = {
  instancetype: "VirtualMachineClusterInstancetype",
  preference: "VirtualMachineClusterPreference",
} as const;

/** A name without a kind means what every namespace sees; where a volume names it, it names the kind too. */
export function setMatcherKinds({ spec }: VirtualMachine): void {
  for (const matcher of ["instancetype", "preference"] as const) {
    const given = spec[matcher];
    if (given !== undefined && isUnset(given.kind) && isUnset(given.inferFromVolume))
      given.kind = clusterKinds[matcher];
  }
}

/** Every instance of a machine is the same computer to its guest, so its identity belongs into the template. */
export function setFirmwareIdentity({ spec }: VirtualMachine, { randomUuid }: DefaultsContext): void {
  const template = spec.template.spec;
  if (template === undefined) return;
  const { domain } = template;
  if (isUnset(domain.firmware?.uuid)) domain.firmware = { ...domain.firmware, uuid: randomUuid() };
  const architecture = parseArchitecture(template.architecture ?? "");
  if (architecture === undefined || !architectureProfiles[architecture].smbios) return;
  if (isUnset(domain.firmware?.serial)) domain.firmware = { ...domain.firmware, serial: randomUuid() };
}

/** A step for instances, run on the template that they will be made from. */
export function templateStep({ name, set }: DefaultsStep): MachineDefaultsStep {
  return {
    name,
    set({ spec: { template } }, context) {
      if (template.spec === undefined) return;
      const instance = { metadata: template.metadata ?? {}, spec: template.spec };
      set(instance, context);
      template.spec = instance.spec;
      if (Object.keys(instance.metadata).length > 0) template.metadata = instance.metadata;
    },
  };
}
