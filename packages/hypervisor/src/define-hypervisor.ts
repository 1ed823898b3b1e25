import type { Architecture } from "./architecture.ts";
import { createCapabilityExtractor } from "./capabilities/extractor.ts";
import type { SupportOverlays } from "./capabilities/registry.ts";
import type { Configurator, Hypervisor, NodeInformation } from "./contract.ts";
import { baseConfigurators } from "./converter/base.ts";
import { createConverter, overrideConfigurators } from "./converter/convert.ts";
import { virtType } from "./converter/virt-type.ts";
import { createDefaultsProvider } from "./defaults/apply.ts";
import { baseDefaults } from "./defaults/base.ts";
import type { ArchitectureSteps, DefaultsLayers, DefaultsStep, MachineDefaultsStep } from "./defaults/step.ts";
import { templateStep } from "./defaults/virtual-machine.ts";
import { deviceRequests } from "./resources/device-requests.ts";
import { memoryOverhead } from "./resources/memory-overhead.ts";
import type { ProcessNames } from "./tuner/plan.ts";
import { createTuner } from "./tuner/tuner.ts";
import { createValidator } from "./validation/validator.ts";
import type { ValidationRule } from "./validation/rule.ts";

/** What makes a hypervisor differ from the base. Everything left out is the base's. */
export interface HypervisorDefinition {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly node: NodeInformation;
  readonly processes: ProcessNames;
  readonly defaults?: {
    /** Steps of the hypervisor's own layer. */
    readonly hypervisor?: readonly DefaultsStep[];
    /** Steps for this hypervisor on one architecture. */
    readonly pair?: ArchitectureSteps;
    /** Base steps to replace, by name, in whichever layer they stand. */
    readonly replace?: readonly DefaultsStep[];
    /** Steps for VirtualMachines, after the base's. */
    readonly machine?: readonly MachineDefaultsStep[];
  };
  readonly validation?: {
    readonly rules?: readonly ValidationRule[];
    readonly pair?: Readonly<Partial<Record<Architecture, readonly ValidationRule[]>>>;
  };
  /** What the hypervisor, or it on one architecture (`mshv/amd64`), cannot do. */
  readonly capabilities?: SupportOverlays;
  /** Replace base configurators by name, or follow them. */
  readonly configurators?: readonly Configurator[];
  /** Parts of its own in place of the base's, for what cannot be said by the above. */
  readonly parts?: Partial<Pick<Hypervisor, "tuner" | "resources" | "validator" | "defaults" | "converter">>;
}

/** Composes a hypervisor from the base and what differs. This is all that `kvm`, `mshv` and modules out of tree call. */
export function defineHypervisor(definition: HypervisorDefinition): Hypervisor {
  const { name, aliases = [], node, processes, capabilities: overlays = {} } = definition;
  const capabilities = createCapabilityExtractor(name, overlays);
  const configurators = overrideConfigurators([...baseConfigurators, virtType(node)], definition.configurators ?? []);
  return {
    name,
    aliases,
    node,
    capabilities,
    defaults: createDefaultsProvider(composeDefaults(definition.defaults)),
    validator: createValidator({ ...definition.validation, capabilities, name, node }),
    converter: createConverter(configurators),
    tuner: createTuner(processes),
    resources: {
      getMemoryOverhead: memoryOverhead,
      deviceRequests: (vmi, config) => deviceRequests(node, vmi, config),
    },
    ...definition.parts,
    withNode: (other) => defineHypervisor({ ...definition, node: other }),
  };
}

function composeDefaults(given: HypervisorDefinition["defaults"]): DefaultsLayers {
  const replacements = new Map((given?.replace ?? []).map((step) => [step.name, step]));
  const replaced = (steps: readonly DefaultsStep[] = []): DefaultsStep[] =>
    steps.map((step) => replacements.get(step.name) ?? step);
  const { amd64, arm64, s390x } = baseDefaults.architecture;
  return {
    base: replaced(baseDefaults.base),
    hypervisor: given?.hypervisor ?? [],
    architecture: { amd64: replaced(amd64), arm64: replaced(arm64), s390x: replaced(s390x) },
    pair: given?.pair ?? {},
    finalization: replaced(baseDefaults.finalization),
    machine: [
      ...baseDefaults.machine.map((step) => {
        const replacement = replacements.get(step.name);
        return replacement === undefined ? step : templateStep(replacement);
      }),
      ...(given?.machine ?? []),
    ],
  };
}
