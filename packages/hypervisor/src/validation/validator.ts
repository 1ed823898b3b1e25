import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import { parseArchitecture, type Architecture } from "../architecture.ts";
import type { ClusterConfig } from "../cluster-config.ts";
import type { CapabilityExtractor, NodeInformation, Validator } from "../contract.ts";
import { baseRules } from "./base.ts";
import { capabilityRule } from "./capability.ts";
import { platformRule } from "./platform.ts";
import { validateHotplug } from "./hotplug.ts";
import { runRules, type ValidationRule } from "./rule.ts";
import { validateVirtualMachine } from "./virtual-machine.ts";

interface ValidatorParts {
  /** The hypervisor's own rules, after the base's. */
  readonly rules?: readonly ValidationRule[];
  /** Rules for the hypervisor on one architecture, last. */
  readonly pair?: Readonly<Partial<Record<Architecture, readonly ValidationRule[]>>>;
  readonly capabilities: CapabilityExtractor;
  readonly name: string;
  readonly node: NodeInformation;
}

/** Base, hypervisor, architecture (through the capability registry) and pair; all causes, in this order. */
export function createValidator({ rules = [], pair = {}, capabilities, name, node }: ValidatorParts): Validator {
  const shared = [...baseRules, ...rules, platformRule(name, node), capabilityRule(capabilities)];
  const validate = (field: string, spec: VirtualMachineInstanceSpec, config: ClusterConfig): StatusCause[] => {
    const architecture = parseArchitecture(spec.architecture || config.defaultArchitecture);
    const own = architecture === undefined ? [] : (pair[architecture] ?? []);
    return runRules([...shared, ...own], { spec, field, config, architecture });
  };
  return {
    validateVirtualMachineInstanceSpec: validate,
    validateVirtualMachineSpec: (field, spec, config) => validateVirtualMachine(field, spec, config, validate),
    validateHotplug: (before, after, config) => validateHotplug(before, after, config, validate),
  };
}
