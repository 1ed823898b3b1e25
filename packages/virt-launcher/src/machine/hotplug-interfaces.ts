import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Domain } from "@polyvirt/domain";

/** By the name of the interface. */
export interface InterfaceChanges {
  readonly detach: readonly string[];
  readonly links: readonly { readonly name: string; readonly up: boolean }[];
}

/**
 * What differs between the network cards of the running machine and their states in the VMI. New ones do not come: a pod
 * has one network, and admission refuses a second interface on it.
 */
export function planInterfaces({ spec }: VirtualMachineInstance, definition: Domain): InterfaceChanges {
  const present = new Map(
    (definition.devices?.interfaces ?? []).map(({ alias, link }) => [alias?.name, link?.state !== "down"]),
  );
  const wanted = (spec.domain.devices.interfaces ?? []).filter(({ name }) => present.has(`ua-${name}`));
  return {
    detach: wanted.filter(({ state }) => state === "absent").map(({ name }) => name),
    links: wanted
      .filter(({ state }) => state !== "absent")
      .map(({ name, state }) => ({ name, up: state !== "down" }))
      .filter(({ name, up }) => present.get(`ua-${name}`) !== up),
  };
}
