import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import type { Architecture } from "../architecture.ts";
import type { ClusterConfig } from "../cluster-config.ts";

/** Kubernetes' names for what is wrong with a field. */
const causeReasons = {
  invalid: "FieldValueInvalid",
  required: "FieldValueRequired",
  notSupported: "FieldValueNotSupported",
  notFound: "FieldValueNotFound",
  duplicate: "FieldValueDuplicate",
  forbidden: "FieldValueForbidden",
} as const;

/** What a rule looks at. `field` is where the spec stands in the object: `spec`, or `spec.template.spec` in a VM. */
export interface Subject {
  readonly spec: VirtualMachineInstanceSpec;
  readonly field: string;
  readonly config: ClusterConfig;
  /** Absent when `spec.architecture` names none that Polyvirt knows. */
  readonly architecture: Architecture | undefined;
}

export type Report = Readonly<Record<keyof typeof causeReasons, (field: string, message: string) => void>>;

/** One question about a VMI, which may find any number of faults. Named, so that a hypervisor can replace it. */
export interface ValidationRule {
  readonly name: string;
  readonly check: (subject: Subject, report: Report) => void;
}

/** Runs every rule and returns all causes in the order found, each once. */
export function runRules(rules: readonly ValidationRule[], subject: Subject): StatusCause[] {
  const causes = new Map<string, StatusCause>();
  const entry = (reason: string) => (field: string, message: string) => {
    causes.set(`${reason} ${field} ${message}`, { reason, message, field });
  };
  const report: Report = {
    invalid: entry(causeReasons.invalid),
    required: entry(causeReasons.required),
    notSupported: entry(causeReasons.notSupported),
    notFound: entry(causeReasons.notFound),
    duplicate: entry(causeReasons.duplicate),
    forbidden: entry(causeReasons.forbidden),
  };
  for (const rule of rules) rule.check(subject, report);
  return [...causes.values()];
}
