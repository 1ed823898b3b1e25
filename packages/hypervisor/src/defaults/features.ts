import type { FeatureHyperv, VirtualMachineInstance } from "@polyvirt/api";

/** Present without a word about it means "on". */
function enable(state: { enabled?: boolean } | undefined): void {
  if (state !== undefined) state.enabled ??= true;
}

function setHyperv(hyperv: FeatureHyperv): void {
  const { spinlocks, synictimer, tlbflush, ...states } = hyperv;
  for (const state of Object.values(states)) enable(state);
  for (const state of [spinlocks, synictimer, synictimer?.direct, tlbflush, tlbflush?.direct, tlbflush?.extended]) {
    enable(state);
  }
  if (spinlocks?.enabled === true) spinlocks.spinlocks ??= 4096;
}

export function setFeatureStates(draft: VirtualMachineInstance): void {
  const { domain } = draft.spec;
  const features = (domain.features ??= {});
  for (const state of [features.acpi, features.apic, features.smm, features.pvspinlock, features.hypervPassthrough]) {
    enable(state);
  }
  if (features.hyperv !== undefined) setHyperv(features.hyperv);
  const timers = domain.clock?.timer;
  for (const timer of [timers?.hpet, timers?.hyperv, timers?.kvm, timers?.pit, timers?.rtc]) {
    if (timer !== undefined) timer.present ??= true;
  }
}

/** For machines without ACPI. */
export function disableAcpi(draft: VirtualMachineInstance): void {
  const features = (draft.spec.domain.features ??= {});
  features.acpi ??= { enabled: false };
}

/** Which enlightenment needs which other one. Order matters: a dependency may itself depend on a later row. */
const hypervDependencies = [
  { feature: "synictimer", needs: "synic" },
  { feature: "synic", needs: "vpindex" },
  { feature: "tlbflush", needs: "vpindex" },
  { feature: "ipi", needs: "vpindex" },
  { feature: "evmcs", needs: "vapic" },
] as const satisfies readonly { feature: keyof FeatureHyperv; needs: keyof FeatureHyperv }[];

/** Switches on what the chosen Hyper-V enlightenments depend on; one that the user switched off stays off and is refused later. */
export function setHypervDependencies(draft: VirtualMachineInstance): void {
  const { domain } = draft.spec;
  const hyperv = domain.features?.hyperv;
  if (hyperv === undefined) return;
  for (const { feature, needs } of hypervDependencies) {
    if (hyperv[feature]?.enabled === true) hyperv[needs] ??= { enabled: true };
  }
  if (hyperv.evmcs?.enabled !== true) return;
  const cpuFeatures = domain.cpu?.features ?? [];
  if (!cpuFeatures.some(({ name }) => name === "vmx")) {
    domain.cpu = { ...domain.cpu, features: [...cpuFeatures, { name: "vmx", policy: "require" }] };
  }
}
export { hypervDependencies };
