import type { ValidatingResult } from "./validating-policy.ts";

export type ValidationAction = "Deny" | "Warn" | "Audit";

export interface BoundPolicy {
  readonly policyName: string;
  readonly bindingName: string;
  readonly validationActions: readonly ValidationAction[];
}

export interface PolicyEffect {
  /** The first denial, with the status that answers the request. */
  readonly denial: { readonly message: string; readonly reason: string; readonly code: number } | undefined;
  readonly warnings: readonly string[];
  /** Annotations of the audit event. */
  readonly annotations: Readonly<Record<string, string>>;
}

const codes: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  Invalid: 422,
  RequestEntityTooLarge: 413,
};

/** What decisions come to under a binding: denials, warnings and annotations in Kubernetes' words. */
export function applyBinding(
  { policyName, bindingName, validationActions }: BoundPolicy,
  result: ValidatingResult,
): PolicyEffect {
  const named = `ValidatingAdmissionPolicy '${policyName}' with binding '${bindingName}'`;
  const denials = result.decisions.filter(({ action }) => action === "Deny");
  const denied = denials.filter(({ annotation }) => annotation !== true);
  const first = denials.find(({ annotation }) => annotation === true || validationActions.includes("Deny"));
  const failures = validationActions.includes("Audit")
    ? denied.map(({ index, message }) => ({
        message,
        policy: policyName,
        binding: bindingName,
        expressionIndex: index ?? 0,
        validationActions,
      }))
    : [];
  return {
    denial:
      first === undefined
        ? undefined
        : {
            message: `${named} denied request: ${first.message}`,
            reason: first.reason,
            code: codes[first.reason] ?? 422,
          },
    warnings: validationActions.includes("Warn")
      ? denied.map(({ message }) => `Validation failed for ${named}: ${message}`)
      : [],
    annotations: {
      ...Object.fromEntries(result.auditAnnotations.map(({ key, value }) => [`${policyName}/${key}`, value])),
      ...(failures.length === 0
        ? {}
        : { "validation.policy.admission.k8s.io/validation_failure": JSON.stringify(failures.slice(-1)) }),
    },
  };
}
