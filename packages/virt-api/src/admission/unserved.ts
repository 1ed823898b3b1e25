import type { AdmissionRequest, AdmissionResponse } from "@polyvirt/api/k8s";
import { deny } from "./admission.ts";

/** For kinds whose definition is installed but which nothing acts upon yet: better a refusal than an object without effect. */
export function refuseUnserved(request: AdmissionRequest): AdmissionResponse {
  const { kind } = request;
  const message = `${kind.kind} (${kind.group}/${kind.version}) is not served by this version`;
  return deny(request, [{ reason: "FieldValueNotSupported", field: "kind", message }]);
}
