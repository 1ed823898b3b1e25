import type { VirtualMachineInstancePreset } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionResponse, StatusCause } from "@polyvirt/api/k8s";
import type { ClusterConfig, HypervisorRegistry } from "@polyvirt/hypervisor";
import { diffJson } from "@polyvirt/core";
import { failure } from "../server/status.ts";

/** What the rules of admission may ask for. All of it is known before a request comes. */
export interface AdmissionContext {
  readonly hypervisors: HypervisorRegistry;
  readonly config: ClusterConfig;
  /** The presets of a namespace. */
  readonly presets: (namespace: string) => readonly VirtualMachineInstancePreset[];
  /** Where Polyvirt is installed: its service accounts live there. */
  readonly namespace: string;
  readonly now: () => number;
  readonly randomUuid: () => string;
}

/** Decides about one request. Pure: the same request and context give the same answer. */
export type Admitter = (request: AdmissionRequest<never>, context: AdmissionContext) => AdmissionResponse;

export function allow(request: Pick<AdmissionRequest, "uid">): AdmissionResponse {
  return { uid: request.uid, allowed: true };
}

/** Allows the request with the object changed. */
export function allowChanged(
  request: Pick<AdmissionRequest, "uid">,
  original: unknown,
  changed: unknown,
): AdmissionResponse {
  const patch = diffJson(original, changed);
  if (patch.length === 0) return allow(request);
  return {
    uid: request.uid,
    allowed: true,
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
  };
}

/** Refuses with every cause; the message is all of them in one line, for clients that show nothing else. */
export function deny(
  { uid, kind, name }: Pick<AdmissionRequest, "uid" | "kind" | "name">,
  causes: StatusCause[],
): AdmissionResponse {
  const message = causes.map((cause) => cause.message).join(", ");
  const details = { group: kind.group, kind: kind.kind, ...(name === undefined ? {} : { name }), causes };
  return { uid, allowed: false, status: failure(422, message, details) };
}
