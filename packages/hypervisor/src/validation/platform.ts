import type { NodeInformation } from "../contract.ts";
import type { ValidationRule } from "./rule.ts";

/** Guests of an architecture that the hypervisor does not exist on run only where emulation across architectures is allowed. */
export function platformRule(name: string, node: NodeInformation): ValidationRule {
  return {
    name: "platform",
    check({ field, config, architecture }, report) {
      if (architecture === undefined || node.architectures.includes(architecture)) return;
      if (config.useEmulation && config.isEnabled("MultiArchitectureSoftwareEmulation")) return;
      report.notSupported(
        `${field}.architecture`,
        `hypervisor ${name} does not run ${architecture} guests (allowed values: [${node.architectures.join(" ")}]). Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration to emulate them.`,
      );
    },
  };
}
