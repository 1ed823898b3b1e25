import { findUses } from "../capabilities/registry.ts";
import type { CapabilityExtractor } from "../contract.ts";
import type { ValidationRule } from "./rule.ts";

/** Refuses what the capability registry calls unsupported here, and what still waits for its feature gate. */
export function capabilityRule(capabilities: CapabilityExtractor): ValidationRule {
  return {
    name: "capabilities",
    check({ spec, field, config, architecture }, report) {
      for (const { key, title, level, message, gate } of capabilities.support(
        architecture ?? config.defaultArchitecture,
      )) {
        const refused =
          level === "unsupported" || (level === "experimental" && gate !== undefined && !config.isEnabled(gate));
        if (!refused) continue;
        for (const path of findUses(key, spec)) {
          const cause = level === "unsupported" ? report.notSupported : report.invalid;
          cause(`${field}.${path}`, message ?? `${title} is not supported`);
        }
      }
    },
  };
}
