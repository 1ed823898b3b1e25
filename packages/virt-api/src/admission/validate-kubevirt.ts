import type { KubeVirt } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionResponse } from "@polyvirt/api/k8s";
import { checkConfiguration } from "@polyvirt/hypervisor";
import { allow, deny, type AdmissionContext } from "./admission.ts";

/**
 * Refuses what virt-operator would not carry out. What was wrong before may stay wrong: whoever mends one thing must not
 * have to mend everything, and virt-operator has said it on the object's conditions.
 */
export function validateKubeVirt(request: AdmissionRequest<KubeVirt>, context: AdmissionContext): AdmissionResponse {
  const { object, oldObject } = request;
  if (object === undefined || object === null || object.metadata.deletionTimestamp !== undefined) return allow(request);
  const problems = (kubevirt: KubeVirt) =>
    checkConfiguration(kubevirt, context.hypervisors).filter(({ blocks }) => blocks);
  const known = oldObject === undefined || oldObject === null ? [] : problems(oldObject);
  const fresh = problems(object).filter(
    ({ field, message }) => !known.some((old) => old.field === field && old.message === message),
  );
  if (fresh.length === 0) return allow(request);
  const causes = fresh.map(({ field, message }) => ({
    reason: "FieldValueInvalid",
    field,
    message: `${field} ${message}`,
  }));
  return deny(request, causes);
}
