import type { VirtualMachine } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionResponse, StatusCause } from "@polyvirt/api/k8s";
import { deny, type AdmissionContext } from "./admission.ts";
import { chooseHypervisor } from "./hypervisor.ts";

/** What people can do instead, by kind. */
const instead: Readonly<Record<string, string>> = {
  VirtualMachine: "create a VirtualMachineInstance with the spec of its template",
  VirtualMachineInstanceReplicaSet: "create the VirtualMachineInstances one by one",
  VirtualMachineInstanceMigration: "delete the VirtualMachineInstance and create it again",
};

/** For kinds whose definition is installed but which nothing acts upon yet: better a refusal than an object without effect. */
export function refuseUnserved(request: AdmissionRequest): AdmissionResponse {
  return deny(request, [notServed(request)]);
}

function notServed({ kind }: AdmissionRequest): StatusCause {
  const hint = instead[kind.kind];
  const advice = hint === undefined ? "" : `; ${hint}`;
  const message = `${kind.kind} (${kind.group}/${kind.version}) is not served by this version${advice}`;
  return { reason: "FieldValueNotSupported", field: "kind", message };
}

/** A machine is refused with everything that would be wrong with it besides, so that its template is right afterwards. */
export function refuseMachine(request: AdmissionRequest<VirtualMachine>, context: AdmissionContext): AdmissionResponse {
  const { object } = request;
  const template = object?.spec.template?.spec;
  if (object === undefined || object === null || template === undefined) return refuseUnserved(request);
  const { hypervisor, causes } = chooseHypervisor(template, context, "spec.template.spec");
  const faults = hypervisor?.validator.validateVirtualMachineSpec("spec", object.spec, context.config) ?? [];
  return deny(request, [notServed(request), ...causes, ...faults]);
}
