import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import { parseArchitecture, type Architecture } from "../architecture.ts";
import type { ClusterConfig } from "../cluster-config.ts";
import type { CapabilityExtractor, Validator } from "../contract.ts";
import { baseRules } from "./base.ts";
import { capabilityRule } from "./capability.ts";
import { validateHotplug } from "./hotplug.ts";
import { runRules, type ValidationRule } from "./rule.ts";
import { validateVirtualMachine } from "./virtual-machine.ts";

interface ValidatorParts {
  /** The hypervisor's own rules, after the base's. */
  readonly rules?: readonly ValidationRule[];
  /** Rules for the hypervisor on one architecture, last. */
  readonly pair?: Readonly<Partial<Record<Architecture, readonly ValidationRule[]>>>;
  readonly capabilities: CapabilityExtractor;
}

/** Base, hypervisor, architecture (through the capability registry) and pair; all causes, in this order. */
export function createValidator({ rules = [], pair = {}, capabilities }: ValidatorParts): Validator {
  const shared = [...baseRules, ...rules, capabilityRule(capabilities)];
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
