import type { Interface, VirtualMachineInstance, VirtualMachineInstanceNetworkInterface } from "@polyvirt/api";
import { vcpuCount } from "@polyvirt/hypervisor";
import type { PreparedInterface } from "../../network/prepared-interface.ts";
import { isDomainAlive } from "../domain-phase.ts";
import type { StatusPart } from "./status-part.ts";

/**
 * How each interface is connected. Addresses that others can reach come from the pod, and what the guest's agent has
 * added (`infoSource` says so) is kept.
 */
export const interfacesPart: StatusPart = (status, { vmi, domain, prepared }) => {
  if (prepared === undefined || !isDomainAlive(domain)) return status;
  const wanted = (vmi.spec.domain.devices.interfaces ?? []).filter(({ state }) => state !== "absent");
  if (wanted.length === 0) return status;
  const known = status.interfaces ?? [];
  const named = wanted.map((iface) =>
    described(
      vmi,
      iface,
      known.find(({ name }) => name === iface.name),
      prepared.find(({ name }) => name === iface.name),
    ),
  );
  const others = known.filter(({ name }) => name === undefined);
  return { ...status, interfaces: [...named, ...others] };
};

function described(
  vmi: VirtualMachineInstance,
  iface: Interface,
  known: VirtualMachineInstanceNetworkInterface | undefined,
  prepared: PreparedInterface | undefined,
): VirtualMachineInstanceNetworkInterface {
  const [address] = prepared?.podAddresses ?? [];
  const mac = prepared?.macAddress ?? iface.macAddress;
  return {
    name: iface.name,
    infoSource: "domain",
    ...(mac === undefined ? {} : { mac }),
    ...(prepared === undefined ? {} : { podInterfaceName: prepared.podInterfaceName }),
    ...(address === undefined ? {} : { ipAddress: address, ipAddresses: [...(prepared?.podAddresses ?? [])] }),
    ...known,
    linkState: iface.state === "down" ? "down" : "up",
    queueCount: queueCount(vmi, iface),
  };
}

/** As many as the guest has CPUs where that is asked for and the card can do it. */
function queueCount({ spec }: VirtualMachineInstance, { model }: Interface): number {
  const many = spec.domain.devices.networkInterfaceMultiqueue === true && (model || "virtio") === "virtio";
  return many ? Math.min(vcpuCount(spec.domain), 256) : 1;
}
