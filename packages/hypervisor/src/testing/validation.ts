/** What the validation tests share: a VMI from its parts, and the cause that it must be refused with. */
import type { KubeVirtConfiguration, VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import { registry } from "../builtin.ts";
import { clusterConfig, instance } from "./fixtures.ts";

export type Domain = Partial<VirtualMachineInstanceSpec["domain"]>;
export type Spec = Partial<Omit<VirtualMachineInstanceSpec, "domain">>;

export interface Case {
  readonly domain?: Domain;
  readonly spec?: Spec;
  readonly configuration?: KubeVirtConfiguration;
  readonly hypervisor?: string;
  readonly field: string;
  readonly message: string;
  readonly reason?: string;
}

export function causes(given: Omit<Case, "field" | "message">): StatusCause[] {
  const { domain = {}, spec = {}, configuration = {}, hypervisor = "kvm" } = given;
  const vmi = instance(domain, { architecture: "amd64", ...spec });
  return registry
    .get(hypervisor)
    .validator.validateVirtualMachineInstanceSpec("spec", vmi.spec, clusterConfig(configuration));
}

export function causeOf({ field, message, reason = "FieldValueInvalid" }: Case): StatusCause {
  return { reason, field, message };
}

export const gates = (...featureGates: string[]): KubeVirtConfiguration => ({
  developerConfiguration: { featureGates },
});

export const disks = (...list: NonNullable<VirtualMachineInstanceSpec["domain"]["devices"]["disks"]>): Domain => ({
  devices: { disks: list },
});

export const requests = "spec.domain.resources.requests";
export const limits = "spec.domain.resources.limits";
export const firstDisk = "spec.domain.devices.disks[0]";
