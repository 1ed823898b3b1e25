import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DefaultsContext } from "../contract.ts";
import { isUnset } from "./step.ts";

/** A value that Kubernetes' own default means: setting it would only repeat what the scheduler assumes. */
const implicitCpuRequest = "100m";

export function setCpuRequest(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  const { domain } = draft.spec;
  const limit = domain.resources?.limits?.["cpu"];
  if (!isUnset(domain.resources?.requests?.["cpu"])) return;
  if (!isUnset(limit)) {
    domain.resources = { ...domain.resources, requests: { ...domain.resources?.requests, cpu: limit ?? "" } };
    return;
  }
  const request = config.cpuRequest;
  if (request === undefined || request === implicitCpuRequest || domain.cpu?.dedicatedCpuPlacement === true) return;
  domain.resources = { ...domain.resources, requests: { ...domain.resources?.requests, cpu: request } };
}

/** Guest memory follows what the pod asks for when the VMI does not say it. */
export function setGuestMemory(draft: VirtualMachineInstance): void {
  const { domain } = draft.spec;
  if (!isUnset(domain.memory?.guest)) return;
  const guest = [
    domain.resources?.requests?.["memory"],
    domain.resources?.limits?.["memory"],
    domain.memory?.hugepages?.pageSize,
  ].find((candidate) => !isUnset(candidate));
  if (guest !== undefined) domain.memory = { ...domain.memory, guest };
}
