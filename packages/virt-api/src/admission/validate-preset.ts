import type { VirtualMachineInstancePreset } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionResponse, StatusCause } from "@polyvirt/api/k8s";
import { allow, deny } from "./admission.ts";

const operators: readonly string[] = ["In", "NotIn", "Exists", "DoesNotExist"];

/** Whether a preset can ever be applied. What it sets is judged together with each VMI that gets it. */
export function validatePreset(request: AdmissionRequest<VirtualMachineInstancePreset>): AdmissionResponse {
  const { object } = request;
  if (object === undefined || object === null) return allow(request);
  const { domain, selector = {} } = object.spec ?? {};
  const causes: StatusCause[] = [];
  if (domain === undefined) {
    causes.push({
      reason: "FieldValueRequired",
      field: "spec.domain",
      message: "missing domain: the preset sets nothing",
    });
  }
  for (const [index, { operator, values = [] }] of (selector.matchExpressions ?? []).entries()) {
    const field = `spec.selector.matchExpressions[${index}]`;
    const refuse = (name: string, message: string): number =>
      causes.push({ reason: "FieldValueInvalid", field: `${field}.${name}`, message: `${field}.${name} ${message}` });
    if (!operators.includes(operator)) refuse("operator", `"${operator}" is none of ${operators.join(", ")}`);
    else if (operator.endsWith("In") && values.length === 0) refuse("values", `must not be empty for ${operator}`);
    else if (operator.startsWith("Ex") && values.length > 0) refuse("values", `must be empty for ${operator}`);
  }
  return causes.length === 0 ? allow(request) : deny(request, causes);
}
