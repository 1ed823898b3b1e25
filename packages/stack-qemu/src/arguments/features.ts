import type { Features } from "./definition-types.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";
import { sizeInBytes } from "./size.ts";

type FeaturesSection = Section<Features>;

/** Features of the machine (ACPI, SMM, …) and of its hypervisor (enlightenments for Windows, KVM's hints). */
export function addFeatures(domain: DomainSection, plan: MachinePlan): void {
  const features = domain.child("features");
  const x86 = plan.architecture.name === "x86_64";
  const acpi = features?.child("acpi") !== undefined;
  if (x86 && !acpi) plan.setMachine({ acpi: false });
  if (plan.architecture.name === "aarch64" && !acpi) plan.setMachine({ acpi: "off" });
  // A fully virtual machine has PAE, an APIC and the like always; naming them asks for nothing.
  features?.skip("pae", "acpi");
  addTranslationCache(features, plan);
  if (features === undefined) return;
  addInterrupts(features, plan);
  if (x86) addPcParts(features, plan);
  if (plan.architecture.name === "aarch64") {
    plan.setMachine({
      "gic-version": features.child("gic")?.oneOf("version", ["2", "3", "host"]),
      virtualization: features.child("virtualization") === undefined ? undefined : true,
      ras: features.child("ras")?.toggle("state"),
    });
  }
  const pmu = features.child("pmu");
  if (pmu !== undefined) plan.setCpu(undefined, { pmu: pmu.toggle("state") ?? true });
  const coreInfo = features.child("vmcoreinfo");
  if (coreInfo !== undefined && (coreInfo.toggle("state") ?? true)) plan.addDevice("vmcoreinfo");
  addKvm(features, plan);
  addHyperv(features, plan);
}

/** Parts that only PC machines have; elsewhere nobody reads them, and they are refused. */
function addPcParts(features: FeaturesSection, plan: MachinePlan): void {
  const smm = features.child("smm");
  plan.setMachine({
    smm: smm === undefined ? undefined : (smm.toggle("state") ?? true),
    vmport: features.child("vmport")?.toggle("state"),
    i8042: features.child("ps2")?.toggle("state"),
  });
  const segment = smm?.child("tseg");
  if (segment === undefined) return;
  if (plan.architecture.pciBus !== "pcie.0") throw features.refuse("smm", "tseg is a part of q35 machines only");
  plan.addOption("-global", `mch.extended-tseg-mbytes=${Math.ceil(sizeInBytes(segment) / 1024 ** 2)}`);
}

/** How the guest is interrupted and waits for locks, where the hypervisor helps with it. */
function addInterrupts(features: FeaturesSection, plan: MachinePlan): void {
  const kvm = plan.virtType === "kvm";
  const end = features.child("apic")?.toggle("eoi");
  const spinlock = features.child("pvspinlock");
  const unhalt = spinlock === undefined ? undefined : (spinlock.toggle("state") ?? true);
  const driver = features.child("ioapic")?.oneOf("driver", ["kvm", "qemu"]);
  if (!kvm && driver === "kvm") throw features.refuse("ioapic", "this is a part of KVM, and the machine is emulated");
  // Short cuts through KVM; an emulated guest takes the long way and does not notice.
  if (!kvm) return;
  plan.setCpu(undefined, {
    "kvm-pv-eoi": end,
    "kvm-pv-unhalt": unhalt,
  });
  plan.setMachine({ "kernel-irqchip": driver === undefined ? undefined : driver === "kvm" ? "on" : "split" });
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
    "kvm-pv-ipi": kvm.child("pvIpi")?.toggle("state"),
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
