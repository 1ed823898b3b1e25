import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DefaultsContext } from "../contract.ts";

/** A VMI that says nothing about networks is attached to the pod network. */
export function setPodNetwork(draft: VirtualMachineInstance, { config }: DefaultsContext): void {
  const { spec } = draft;
  const { devices } = spec.domain;
  if ((spec.networks?.length ?? 0) > 0 || (devices.interfaces?.length ?? 0) > 0) return;
  if (devices.autoattachPodInterface === false) return;
  const binding = config.defaultNetworkInterface === "masquerade" ? { masquerade: {} } : { bridge: {} };
  devices.interfaces = [{ name: "default", ...binding }];
  spec.networks = [{ name: "default", pod: {} }];
}
