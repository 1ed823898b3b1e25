/**
 * Ring 2: the hypervisor abstraction layer. What a VMI means on a hypervisor: its defaults, whether it is valid, the machine
 * it becomes, what its launcher pod needs and how its processes are tuned. Pure: it knows no stack, no Kubernetes client,
 * no files; callers say what they know and carry out what they get back.
 *
 * Start with `contract.ts` (what a hypervisor is), then `define-hypervisor.ts` (how one is composed from the base), then
 * `kvm/kvm.ts` and `mshv/mshv.ts` (all that differs).
 */
export { architectures, parseArchitecture, type Architecture } from "./architecture.ts";
export type { CapabilitySupport, SupportLevel } from "./capabilities/capability.ts";
export { findUnserved } from "./capabilities/unserved.ts";
export { claimDiskBytes } from "./claim-disk.ts";
export { checkConfiguration, type ConfigurationProblem, type KnownHypervisors } from "./check-configuration.ts";
export { resolveClusterConfig, type ClusterConfig } from "./cluster-config.ts";
export type * from "./contract.ts";
export type * from "./converter/context.ts";
export { planningContext } from "./converter/planning-context.ts";
export { emulationRefusals, emulatorOf, isCrossArchitecture, isEmulated } from "./converter/emulation.ts";
export { defineHypervisor, type HypervisorDefinition } from "./define-hypervisor.ts";
export type { DefaultsStep, MachineDefaultsStep } from "./defaults/step.ts";
export { errorKinds } from "./errors.ts";
export { HypervisorRegistry, type Platform } from "./registry.ts";
export { registry } from "./builtin.ts";
export { applyPresets, type AppliedPresets } from "./presets/apply-presets.ts";
export type { MemoryTerm } from "./resources/memory-term.ts";
export type * from "./tuner/plan.ts";
export type { Report, Subject, ValidationRule } from "./validation/rule.ts";
export { vcpuCount } from "./vcpus.ts";
export { loadHypervisor, type HypervisorModule, type HypervisorToolkit } from "./load-hypervisor.ts";
