import type { FeatureHyperv, FeatureState, Features, VirtualMachineInstance } from "@polyvirt/api";
import type { ArchitectureProfile } from "../arch/index.ts";
import type { Configurator } from "../contract.ts";
import { guestProfile } from "./profile.ts";

type OnOff = "on" | "off";

const onOff = (enabled: boolean): OnOff => (enabled ? "on" : "off");
const stateOf = (feature: FeatureState): { state: OnOff } => ({ state: onOff(feature.enabled !== false) });

/** Enlightenments that are only on or off, under libvirt's names. */
const hypervSwitches = {
  relaxed: "relaxed",
  vapic: "vapic",
  vpindex: "vpindex",
  runtime: "runtime",
  synic: "synic",
  reset: "reset",
  frequencies: "frequencies",
  reenlightenment: "reenlightenment",
  ipi: "ipi",
  evmcs: "evmcs",
} as const satisfies Partial<Record<keyof FeatureHyperv, string>>;

export const features: Configurator = {
  name: "features",
  configure(domain, vmi, context) {
    const given = vmi.spec.domain.features ?? {};
    const profile = guestProfile(vmi, context);
    const converted = {
      ...(hasAcpi(vmi, profile) ? { acpi: {} } : {}),
      ...apicOf(given),
      ...(given.smm === undefined ? {} : { smm: stateOf(given.smm) }),
      ...hypervOf(given),
      ...(given.kvm === undefined ? {} : { kvm: { hidden: { state: onOff(given.kvm.hidden === true) } } }),
      ...(given.pvspinlock === undefined ? {} : { pvspinlock: stateOf(given.pvspinlock) }),
      ...(profile.vmport ? { vmport: { state: "off" as const } } : {}),
      // A trust domain cannot be profiled from outside.
      ...(vmi.spec.domain.launchSecurity?.tdx === undefined ? {} : { pmu: { state: "off" as const } }),
    };
    if (Object.keys(converted).length > 0) domain.features = converted;
  },
};

function hasAcpi({ spec }: VirtualMachineInstance, { acpi }: ArchitectureProfile): boolean {
  if (acpi === "never" || spec.domain.features?.acpi?.enabled === false) return false;
  return acpi === "always" || spec.domain.firmware?.bootloader?.efi !== undefined;
}

function apicOf({ apic }: Features) {
  if (apic === undefined || apic.enabled === false) return {};
  return { apic: apic.endOfInterrupt === undefined ? {} : { eoi: onOff(apic.endOfInterrupt) } };
}

function hypervOf({ hyperv, hypervPassthrough }: Features) {
  if (hypervPassthrough !== undefined && hypervPassthrough.enabled !== false)
    return { hyperv: { mode: "passthrough" as const } };
  if (hyperv === undefined) return {};
  const converted: Record<string, object> = {};
  for (const [key, name] of Object.entries(hypervSwitches) as [keyof typeof hypervSwitches, string][]) {
    const feature = hyperv[key];
    if (feature !== undefined) converted[name] = stateOf(feature);
  }
  const { spinlocks, vendorid, synictimer, tlbflush } = hyperv;
  if (spinlocks !== undefined) {
    const { state } = stateOf(spinlocks);
    converted["spinlocks"] = { state, ...(state === "on" ? { retries: spinlocks.spinlocks ?? 4096 } : {}) };
  }
  if (vendorid !== undefined) {
    const { state } = stateOf(vendorid);
    converted["vendorId"] = { state, ...(state === "on" && vendorid.vendorid ? { value: vendorid.vendorid } : {}) };
  }
  if (synictimer !== undefined) {
    converted["stimer"] = {
      ...stateOf(synictimer),
      ...(synictimer.direct === undefined ? {} : { direct: stateOf(synictimer.direct) }),
    };
  }
  if (tlbflush !== undefined) {
    converted["tlbflush"] = {
      ...stateOf(tlbflush),
      ...(tlbflush.direct === undefined ? {} : { direct: stateOf(tlbflush.direct) }),
      ...(tlbflush.extended === undefined ? {} : { extended: stateOf(tlbflush.extended) }),
    };
  }
  return { hyperv: converted };
}
