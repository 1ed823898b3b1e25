import { finalizers, type VirtualMachineInstance } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionResponse } from "@polyvirt/api/k8s";
import { applyPresets } from "@polyvirt/hypervisor";
import { allow, allowChanged, deny, type AdmissionContext } from "./admission.ts";
import { ownAccount } from "./caller.ts";
import { chooseHypervisor } from "./hypervisor.ts";

/** The account that launchers run under: the one that QEMU's packages create. */
const launcherUser = 107;

/** Completes a new VMI, by presets and then by defaults; keeps users from writing the status of one that exists. */
export function mutateInstance(
  request: AdmissionRequest<VirtualMachineInstance>,
  context: AdmissionContext,
): AdmissionResponse {
  const { object, oldObject } = request;
  if (object === undefined || object === null) return allow(request);
  if (request.operation === "UPDATE") {
    if (
      ownAccount(request.userInfo, context.namespace) !== undefined ||
      oldObject === undefined ||
      oldObject === null
    ) {
      return allow(request);
    }
    const { status: _, ...rest } = object;
    return allowChanged(request, object, oldObject.status === undefined ? rest : { ...rest, status: oldObject.status });
  }
  if (request.operation !== "CREATE") return allow(request);
  return createInstance(request, object, context);
}

function createInstance(
  request: AdmissionRequest<VirtualMachineInstance>,
  object: VirtualMachineInstance,
  context: AdmissionContext,
): AdmissionResponse {
  const { hypervisor, causes } = chooseHypervisor(object.spec, context);
  if (hypervisor === undefined) return deny(request, causes);
  const { status: _, ...fresh } = object;
  const preset = applyPresets(fresh, context.presets(request.namespace ?? ""));
  if ("conflict" in preset) {
    return deny(request, [{ reason: "FieldValueInvalid", field: "metadata.labels", message: preset.conflict }]);
  }
  const vmi = hypervisor.defaults.applyToInstance(preset.vmi, {
    config: context.config,
    randomUuid: context.randomUuid,
  });
  const finalizer = finalizers.virtualMachineInstance;
  const present = vmi.metadata.finalizers ?? [];
  vmi.metadata.finalizers = present.includes(finalizer) ? present : [...present, finalizer];
  const time = new Date(context.now()).toISOString().replace(/\.\d+Z$/, "Z");
  vmi.status = {
    ...vmi.status,
    phase: "Pending",
    phaseTransitionTimestamps: [{ phase: "Pending", phaseTransitionTimestamp: time }],
    ...(context.config.isEnabled("Root") ? {} : { runtimeUser: launcherUser }),
  };
  const response = allowChanged(request, object, vmi);
  return preset.warnings.length === 0 ? response : { ...response, warnings: [...preset.warnings] };
}
