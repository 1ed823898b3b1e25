import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  HypervisorUnknown: {
    meaning: "The configuration, a VMI or the launcher's arguments name a hypervisor that is not registered.",
    action: "Use one of the names listed in the message, or load the module that provides it.",
    retry: false,
  },
  HypervisorNameTaken: {
    meaning: "Two hypervisors claim the same name or alias.",
    action: "Rename one of them; a registry holds each name once.",
    retry: false,
  },
  HypervisorContractBroken: {
    meaning: "A module that should provide a hypervisor does not export one that fulfils the contract.",
    action: "Compare it with examples/hypervisors/sample; the message names every missing part.",
    retry: false,
  },
  HypervisorConversionRefused: {
    meaning: "A VMI asks for a machine that cannot be built with what the launcher has.",
    action: "The message names the field; change it, or give the launcher what is missing.",
    retry: false,
  },
  HypervisorEmulationRefused: {
    meaning: "The guest needs software emulation, which the cluster or the node does not offer.",
    action: "Enable it as the message says, or run the guest where its hypervisor's device is present.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
