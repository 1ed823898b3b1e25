import type { UserInfo } from "./authentication.ts";
import type { KubeObject, Status } from "./meta.ts";

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

interface GroupVersionResource {
  group: string;
  version: string;
  resource: string;
}

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface AdmissionRequest<T = KubeObject> {
  uid: string;
  kind: GroupVersionKind;
  resource: GroupVersionResource;
  subResource?: string;
  requestKind?: GroupVersionKind;
  requestResource?: GroupVersionResource;
  requestSubResource?: string;
  name?: string;
  namespace?: string;
  operation: AdmissionOperation;
  userInfo: UserInfo;
  object?: T | null;
  oldObject?: T | null;
  dryRun?: boolean;
  options?: Record<string, unknown> | null;
}

export interface AdmissionResponse {
  uid: string;
  allowed: boolean;
  status?: Partial<Status>;
  /** Base64 of the JSON patch. */
  patch?: string;
  patchType?: "JSONPatch";
  auditAnnotations?: Record<string, string>;
  warnings?: string[];
}

/** What the API server posts to a webhook and gets back; not a stored kind. */
export interface AdmissionReview<T = KubeObject> {
  apiVersion: "admission.k8s.io/v1";
  kind: "AdmissionReview";
  request?: AdmissionRequest<T>;
  response?: AdmissionResponse;
}
