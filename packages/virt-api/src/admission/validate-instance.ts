import { annotations, reservedLabels, type VirtualMachineInstance } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionResponse, ObjectMeta, StatusCause } from "@polyvirt/api/k8s";
import { jsonEqual } from "@polyvirt/core";
import { findUnserved } from "@polyvirt/hypervisor";
import { allow, deny, type AdmissionContext } from "./admission.ts";
import { ownAccount } from "./caller.ts";
import { chooseHypervisor } from "./hypervisor.ts";

/** Whether a new VMI is right, after its defaults were set. */
export function validateInstanceCreate(
  request: AdmissionRequest<VirtualMachineInstance>,
  context: AdmissionContext,
): AdmissionResponse {
  const { object } = request;
  if (object === undefined || object === null) return allow(request);
  const { hypervisor, causes } = chooseHypervisor(object.spec, context);
  const own = ownAccount(request.userInfo, context.namespace) !== undefined;
  const all = [
    ...causes,
    ...(hypervisor?.validator.validateVirtualMachineInstanceSpec("spec", object.spec, context.config) ?? []),
    ...findUnserved("spec", object.spec),
    ...(own ? [] : checkNewLabels(object.metadata)),
    ...checkAnnotations(object.metadata, context),
  ];
  return all.length === 0 ? allow(request) : deny(request, all);
}

function checkNewLabels({ labels = {} }: ObjectMeta): StatusCause[] {
  if (!reservedLabels.some((label) => label in labels)) return [];
  return [
    {
      reason: "FieldValueNotSupported",
      field: "metadata.labels",
      message: "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited",
    },
  ];
}

const ignition = "kubevirt.io/ignitiondata";

function checkAnnotations({ annotations: given = {} }: ObjectMeta, { config }: AdmissionContext): StatusCause[] {
  const causes: StatusCause[] = [];
  const invalid = (name: string, message: string): void => {
    causes.push({ reason: "FieldValueInvalid", field: `metadata.annotations.${name}`, message });
  };
  if (given[annotations.hookSidecars] !== undefined && !config.isEnabled("Sidecar")) {
    invalid(
      annotations.hookSidecars,
      `sidecar feature gate is not enabled in kubevirt-config, invalid entry metadata.annotations.${annotations.hookSidecars}`,
    );
  }
  if (given[ignition] !== undefined)
    invalid(ignition, `metadata.annotations.${ignition} is not served by this version`);
  return causes;
}

/**
 * Users change a VMI through its VM and the subresources; our own roles may, within what a running guest can take. That a
 * node agent keeps to its node is upheld by the API server itself: webhooks do not see every subresource.
 */
export function validateInstanceUpdate(
  request: AdmissionRequest<VirtualMachineInstance>,
  context: AdmissionContext,
): AdmissionResponse {
  const { object, oldObject } = request;
  if (object === undefined || object === null || oldObject === undefined || oldObject === null) return allow(request);
  const account = ownAccount(request.userInfo, context.namespace);
  const changed = !jsonEqual(oldObject.spec, object.spec);
  const causes =
    account === undefined
      ? checkUserUpdate(oldObject, object, changed)
      : checkOwnUpdate(oldObject, object, changed, context);
  return causes.length === 0 ? allow(request) : deny(request, causes);
}

function checkUserUpdate(
  before: VirtualMachineInstance,
  after: VirtualMachineInstance,
  changed: boolean,
): StatusCause[] {
  if (changed) {
    return [{ reason: "FieldValueNotSupported", field: "spec", message: "update of VMI object is restricted" }];
  }
  const touched = reservedLabels.some((label) => before.metadata.labels?.[label] !== after.metadata.labels?.[label]);
  if (!touched) return [];
  return [
    {
      reason: "FieldValueNotSupported",
      field: "metadata.labels",
      message: "modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited",
    },
  ];
}

function checkOwnUpdate(
  before: VirtualMachineInstance,
  after: VirtualMachineInstance,
  changed: boolean,
  context: AdmissionContext,
): StatusCause[] {
  if (!changed) return [];
  const { hypervisor, causes } = chooseHypervisor(after.spec, context);
  return [...causes, ...(hypervisor?.validator.validateHotplug(before, after, context.config) ?? [])];
}
