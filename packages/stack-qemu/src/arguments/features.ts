import type { Features } from "./definition-types.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";
import { sizeInBytes } from "./size.ts";

type FeaturesSection = Section<Features>;

/** Features of the machine (ACPI, SMM, …) and of its hypervisor (enlightenments for Windows, KVM's hints). */
export function addFeatures(domain: DomainSection, plan: MachinePlan): void {
  const features = domain.child("features");
  const x86 = plan.architecture.name === "x86_64";
  if (x86 && features?.child("acpi") === undefined) plan.setMachine({ acpi: false });
  // A fully virtual machine has PAE, an APIC and the like always; naming them asks for nothing.
  features?.skip("pae", "apic", "acpi", "hap");
  addTranslationCache(features, plan);
  if (features === undefined) return;
  const smm = features.child("smm");
  plan.setMachine({
    smm: smm === undefined ? undefined : (smm.toggle("state") ?? true),
    vmport: x86 ? features.child("vmport")?.toggle("state") : undefined,
    "gic-version": features.child("gic")?.oneOf("version", ["2", "3", "host"]),
  });
  const pmu = features.child("pmu");
  if (pmu !== undefined) plan.setCpu(undefined, { pmu: pmu.toggle("state") ?? true });
  if (features.child("vmcoreinfo")?.toggle("state") ?? false) plan.addDevice("vmcoreinfo");
  const spinlock = features.child("pvspinlock");
  const unhalt = spinlock?.toggle("state");
  if (unhalt !== undefined && plan.virtType === "kvm") plan.setCpu(undefined, { "kvm-pv-unhalt": unhalt });
  addKvm(features, plan);
  addHyperv(features, plan);
}

/**
 * Software emulation keeps translated code. QEMU's own limit is a gibibyte, far above what a launcher's pod reserves; more
 * than this brings guests hardly anything.
 */
const translationCacheMebibytes = 128;

function addTranslationCache(features: FeaturesSection | undefined, plan: MachinePlan): void {
  const given = features?.child("tcg")?.child("tbCache");
  const bytes = given === undefined ? undefined : sizeInBytes(given);
  if (plan.virtType !== "qemu") return;
  plan.setAccelerator({ "tb-size": bytes === undefined ? translationCacheMebibytes : Math.ceil(bytes / 1024 ** 2) });
}

function addKvm(features: FeaturesSection, plan: MachinePlan): void {
  const kvm = features.child("kvm");
  if (kvm === undefined) return;
  const hidden = kvm.child("hidden")?.toggle("state");
  plan.setCpu(undefined, {
    kvm: hidden === undefined ? undefined : !hidden,
    "kvm-hint-dedicated": kvm.child("hintDedicated")?.toggle("state"),
    "kvm-poll-control": kvm.child("pollControl")?.toggle("state"),
  });
}

/** Enlightenments that are only on or off, by QEMU's names. */
const hypervFlags = {
  relaxed: "hv-relaxed",
  vapic: "hv-vapic",
  vpindex: "hv-vpindex",
  runtime: "hv-runtime",
  synic: "hv-synic",
  reset: "hv-reset",
  frequencies: "hv-frequencies",
  reenlightenment: "hv-reenlightenment",
  ipi: "hv-ipi",
  evmcs: "hv-evmcs",
  avic: "hv-avic",
  emsrBitmap: "hv-emsr-bitmap",
  xmmInput: "hv-xmm-input",
} as const;

function addHyperv(features: FeaturesSection, plan: MachinePlan): void {
  const hyperv = features.child("hyperv");
  if (hyperv === undefined) return;
  if (plan.virtType === "qemu") {
    throw features.refuse("hyperv", "software emulation has no enlightenments; ask for a hypervisor or leave them out");
  }
  if (hyperv.oneOf("mode", ["custom", "passthrough"]) === "passthrough")
    plan.setCpu(undefined, { "hv-passthrough": true });
  for (const [name, flag] of Object.entries(hypervFlags) as [keyof typeof hypervFlags, string][]) {
    const state = hyperv.child(name)?.toggle("state");
    if (state === true) plan.setCpu(undefined, { [flag]: true });
  }
  const spinlocks = hyperv.child("spinlocks");
  if (spinlocks?.toggle("state") ?? false) {
    plan.setCpu(undefined, { "hv-spinlocks": `0x${(spinlocks?.number("retries") ?? 4095).toString(16)}` });
  }
  const stimer = hyperv.child("stimer");
  if (stimer?.toggle("state") ?? false) {
    plan.setCpu(undefined, { "hv-stimer": true, "hv-stimer-direct": stimer?.child("direct")?.toggle("state") });
  }
  const tlbflush = hyperv.child("tlbflush");
  if (tlbflush?.toggle("state") ?? false) {
    const extra = {
      "hv-tlbflush-direct": tlbflush?.child("direct")?.toggle("state"),
      "hv-tlbflush-ext": tlbflush?.child("extended")?.toggle("state"),
    };
    plan.setCpu(undefined, { "hv-tlbflush": true, ...extra });
  }
  const vendor = hyperv.child("vendorId");
  if (vendor?.toggle("state") ?? false) plan.setCpu(undefined, { "hv-vendor-id": vendor?.text("value") });
}
