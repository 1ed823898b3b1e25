/**
 * The contract of a hypervisor: one object with a name and eight parts. `base/` implements every part once; `kvm/`, `mshv/`
 * and out-of-tree modules are made by `defineHypervisor`, which takes only what differs. Nothing in here does I/O: whoever
 * calls says what it knows (`ClusterConfig`, `ConverterContext`, `HypervisorProbe`) and carries out the plans it gets back.
 */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  VirtualMachineSpec,
} from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import type { Domain, DomainDevices, DomainOs } from "@polyvirt/domain";
import type { Architecture } from "./architecture.ts";
import type { CapabilitySupport } from "./capabilities/capability.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import type { ConverterContext } from "./converter/context.ts";
import type { MemoryTerm } from "./resources/memory-term.ts";
import type { HousekeepingInput, HousekeepingPlan, ProcessNames, ResourceAdjustment } from "./tuner/plan.ts";

export interface Hypervisor {
  /** What `spec.configuration.hypervisors[].name` and the launcher's `--hypervisor` say. */
  readonly name: string;
  /** Other names under which it is found, for example KubeVirt's `hyperv-direct` for `mshv`. */
  readonly aliases: readonly string[];
  readonly validator: Validator;
  readonly defaults: DefaultsProvider;
  readonly converter: Converter;
  readonly tuner: DomainTuner;
  readonly capabilities: CapabilityExtractor;
  readonly resources: LauncherResources;
  readonly node: NodeInformation;
  /** The same hypervisor on nodes that name its device or type differently. */
  withNode(node: NodeInformation): Hypervisor;
}

/** Finds every fault at once, after defaults were set. Never changes the object. */
export interface Validator {
  validateVirtualMachineSpec(field: string, spec: VirtualMachineSpec, config: ClusterConfig): StatusCause[];
  validateVirtualMachineInstanceSpec(
    field: string,
    spec: VirtualMachineInstanceSpec,
    config: ClusterConfig,
  ): StatusCause[];
  /** What may change while the guest runs: volumes, interfaces, CPU sockets, memory. */
  validateHotplug(before: VirtualMachineInstance, after: VirtualMachineInstance, config: ClusterConfig): StatusCause[];
}

/** Sets zero-value fields only, layer by layer: Base, Hypervisor, Architecture, Hypervisor+Architecture, Finalization. */
export interface DefaultsProvider {
  /** Returns a completed copy. `onStep` hears after each step what the object looks like: who set which field. */
  applyToInstance(
    vmi: VirtualMachineInstance,
    context: DefaultsContext,
    onStep?: StepListener<VirtualMachineInstance>,
  ): VirtualMachineInstance;
  /** The same for a VirtualMachine: what all its instances have in common, such as their identity. */
  applyToMachine(vm: VirtualMachine, context: DefaultsContext, onStep?: StepListener<VirtualMachine>): VirtualMachine;
}

export const defaultsLayers = ["base", "hypervisor", "architecture", "pair", "finalization"] as const;
export type DefaultsLayer = (typeof defaultsLayers)[number];

export interface DefaultsContext {
  readonly config: ClusterConfig;
  /** Source of identities that stay with the guest (firmware UUID). */
  readonly randomUuid: () => string;
}

export interface Step {
  /** Which layer or list the step belongs to, and its name there: `architecture/disk-bus`, `converter/cpu`. */
  readonly layer: string;
  readonly name: string;
}

export type StepListener<T> = (step: Step, state: T) => void;

export interface Converter {
  /** In the order in which they run. */
  readonly configurators: readonly Configurator[];
  /** VMI → machine definition; throws `HypervisorConversionRefused` with the field when the VMI asks for the impossible. */
  convert(vmi: VirtualMachineInstance, context: ConverterContext, onStep?: StepListener<Domain>): Domain;
}

/** A domain under construction: the two elements that nearly every configurator completes are there from the start. */
export type DraftDomain = Domain & { os: DomainOs; devices: DomainDevices };

/** One small part of the conversion: reads the VMI and what the launcher knows, and completes its share of the domain. */
export interface Configurator {
  readonly name: string;
  configure(domain: DraftDomain, vmi: VirtualMachineInstance, context: ConverterContext): void;
}

/** Decides how a running guest's processes are treated; virt-handler carries the plan out. */
export interface DomainTuner {
  readonly processes: ProcessNames;
  /** Limits of the VMM process, for example how much memory it may lock. */
  adjustResources(vmi: VirtualMachineInstance, config: ClusterConfig): ResourceAdjustment;
  /** Which threads go to the housekeeping CPUs and which stay with the guest's. */
  handleHousekeeping(vmi: VirtualMachineInstance, domain: Domain, input: HousekeepingInput): HousekeepingPlan;
}

export interface CapabilityExtractor {
  /** Names for the node labels `hyperv.node.kubevirt.io/<name>`, from what the node's hypervisor reported. */
  getHypervFeatures(probe: HypervisorProbe): string[];
  /** What this hypervisor supports on one architecture: all entries of the capability registry, resolved. */
  support(architecture: Architecture): readonly CapabilitySupport[];
}

/** What a node agent found out about its hypervisor; every field is optional because not every stack can ask. */
export interface HypervisorProbe {
  /** CPUID leaves 0x40000000–0x4000000a as the hypervisor would show them to a guest. */
  readonly hypervCpuid?: readonly CpuidLeaf[];
  /** Enlightenments by libvirt's names, from its domain capabilities. */
  readonly hypervEnlightenments?: readonly string[];
}

export interface CpuidLeaf {
  readonly function: number;
  readonly eax: number;
  readonly ebx: number;
  readonly ecx: number;
  readonly edx: number;
}

/** What the launcher pod of a VMI must ask the scheduler for, beyond the guest's own memory and CPUs. */
export interface LauncherResources {
  /** Bytes beside guest memory, as named terms so that a VMI's overhead can be explained. */
  getMemoryOverhead(vmi: VirtualMachineInstance, options: OverheadOptions): MemoryOverhead;
  /** Devices for the launcher pod; `optional` ones may be skipped where no node offers them. */
  deviceRequests(vmi: VirtualMachineInstance, config: ClusterConfig): readonly DeviceRequest[];
}

export interface OverheadOptions {
  readonly architecture: Architecture;
  /** `additionalGuestMemoryOverheadRatio` of the cluster, for example `"1.5"`. */
  readonly ratio?: string;
  /** The stack's own measured cost instead of the constants for launcher, logger, daemon and VMM. */
  readonly virtLauncherOverheadBytes?: number;
  /** Binding plug-ins by name, some of which bring a process with its own cost. */
  readonly networkBindings?: ClusterConfig["networkBindings"];
}

export interface MemoryOverhead {
  readonly bytes: number;
  readonly terms: readonly MemoryTerm[];
}

export interface DeviceRequest {
  /** Short name, also of the node in /dev unless the device plug-in says otherwise: `kvm`, `tun`, `vhost-net`. */
  readonly device: string;
  /** For example `devices.kubevirt.io/kvm`. */
  readonly resourceName: string;
  readonly quantity: number;
  readonly optional: boolean;
  /** Shown to people when the request cannot be satisfied. */
  readonly reason: string;
}

/** How a node with this hypervisor looks: what the node labeller and the device plug-ins need. */
export interface NodeInformation {
  /** Name below /dev and in `devices.kubevirt.io/<name>`. */
  readonly hypervisorDevice: string;
  /** What libvirt is asked for and what an accelerated domain's `type` says. */
  readonly virtType: string;
  /** Architectures on which the hypervisor itself exists; other guests need emulation. */
  readonly architectures: readonly Architecture[];
  /** Devices that every accelerated guest needs beside the hypervisor's own, for example one for its firmware. */
  readonly auxiliaryDevices?: readonly AuxiliaryDevice[];
}

export type AuxiliaryDevice = Pick<DeviceRequest, "device" | "optional" | "reason">;
