import type { VirtualMachineInstance } from "@polyvirt/api";
import type { HostDeviceLocation } from "@polyvirt/hypervisor";

/** How the node agent's device plug-ins tell a pod which devices it was given, by kind. */
const variables: readonly { readonly prefix: string; readonly read: (id: string) => HostDeviceLocation | undefined }[] =
  [
    { prefix: "MDEV_PCI_RESOURCE_", read: (uuid) => ({ kind: "mdev", uuid }) },
    { prefix: "PCI_RESOURCE_", read: (address) => ({ kind: "pci", address }) },
    { prefix: "USB_RESOURCE_", read: usbDevice },
  ];

/**
 * Finds a device for each GPU and host device of the VMI among those that the kubelet allocated to this pod. Several of one
 * kind are handed out in the order in which the VMI lists them; one that is missing is refused by the converter.
 */
export function allocatedDevices(
  { spec }: VirtualMachineInstance,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, HostDeviceLocation> {
  const left = new Map<string, HostDeviceLocation[]>();
  const given: Record<string, HostDeviceLocation> = {};
  for (const { name, deviceName } of [
    ...(spec.domain.devices.gpus ?? []),
    ...(spec.domain.devices.hostDevices ?? []),
  ]) {
    if (deviceName === undefined) continue;
    if (!left.has(deviceName)) left.set(deviceName, devicesOf(deviceName, environment));
    const device = left.get(deviceName)?.shift();
    if (device !== undefined) given[name] = device;
  }
  return given;
}

function devicesOf(resource: string, environment: Readonly<Record<string, string | undefined>>): HostDeviceLocation[] {
  const suffix = resource.replaceAll(/[/.]/g, "_").toUpperCase();
  return variables.flatMap(({ prefix, read }) =>
    (environment[`${prefix}${suffix}`] ?? "")
      .split(",")
      .filter((id) => id !== "")
      .flatMap((id) => read(id.trim()) ?? []),
  );
}

/** `BUS:DEVICE`, in decimal. */
function usbDevice(id: string): HostDeviceLocation | undefined {
  const [bus, device] = id.split(":").map(Number);
  if (bus === undefined || device === undefined || Number.isNaN(bus + device)) return undefined;
  return { kind: "usb", bus, device };
}
