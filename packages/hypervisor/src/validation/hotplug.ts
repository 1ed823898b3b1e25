import { isHotpluggable, type VirtualMachineInstance, type VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import { jsonEqual } from "@polyvirt/core";
import type { ClusterConfig } from "../cluster-config.ts";
import { memoryBlockBytes } from "../defaults/hotplug.ts";
import { bytesOf } from "../quantity.ts";

type SpecValidation = (field: string, spec: VirtualMachineInstanceSpec, config: ClusterConfig) => StatusCause[];
type Add = (field: string, message: string) => void;

/** Whether the change from one spec to the other can be made while the guest runs. */
export function validateHotplug(
  before: VirtualMachineInstance,
  after: VirtualMachineInstance,
  config: ClusterConfig,
  validate: SpecValidation,
): StatusCause[] {
  const causes: StatusCause[] = [];
  const add: Add = (field, message) => causes.push({ reason: "FieldValueInvalid", field, message });
  checkVolumes(before, after.spec, add);
  checkInterfaces(before.spec, after.spec, add);
  checkCpu(before.spec, after.spec, add);
  checkMemory(before, after, add);
  return [...causes, ...validate("spec", after.spec, config)];
}

function checkVolumes(vmi: VirtualMachineInstance, after: VirtualMachineInstanceSpec, add: Add): void {
  const before = vmi.spec;
  const leaving = new Set(vmi.status?.volumeStatus?.map(({ name }) => name));
  const old = new Map((before.volumes ?? []).map((volume) => [volume.name, volume]));
  const oldDisks = new Map((before.domain.devices.disks ?? []).map((disk) => [disk.name, disk]));
  for (const [index, volume] of (after.volumes ?? []).entries()) {
    const previous = old.get(volume.name);
    old.delete(volume.name);
    const field = `spec.volumes[${index}]`;
    if (previous === undefined) {
      if (!isHotpluggable(volume))
        add(field, `volume ${volume.name} can only be added to a running VMI when it is hotpluggable`);
      // The guest may still have a disk of that name, with other data.
      if (leaving.has(volume.name))
        add(field, `volume ${volume.name} is still being detached; try again when it is gone`);
      if (after.domain.devices.disableHotplug === true)
        add(field, `volume ${volume.name} cannot be added: spec.domain.devices.disableHotplug is set`);
    } else if (!jsonEqual(previous, volume)) {
      add(field, `${isHotpluggable(previous) ? "hotplug" : "permanent"} volume ${volume.name} changed`);
    }
  }
  for (const volume of old.values()) {
    if (!isHotpluggable(volume)) add("spec.volumes", `permanent volume ${volume.name} was removed`);
  }
  for (const [index, disk] of (after.domain.devices.disks ?? []).entries()) {
    const field = `spec.domain.devices.disks[${index}]`;
    const previous = oldDisks.get(disk.name);
    if (previous !== undefined && !jsonEqual(previous, disk)) add(field, `disk ${disk.name} changed`);
    if (previous !== undefined) continue;
    if (disk.bootOrder !== undefined)
      add(`${field}.bootOrder`, `hotplugged disk ${disk.name} cannot have a boot order`);
    const bus = (disk.disk ?? disk.cdrom ?? disk.lun)?.bus ?? "scsi";
    if (bus !== "scsi" && bus !== "virtio")
      add(field, `hotplugged disk ${disk.name} requires bus to be 'scsi' or 'virtio'. [${bus}] is not permitted`);
  }
}

/** A pod has one network, and a second interface on it cannot be; so interfaces only change their state. */
function checkInterfaces(before: VirtualMachineInstanceSpec, after: VirtualMachineInstanceSpec, add: Add): void {
  const old = new Map((before.domain.devices.interfaces ?? []).map((iface) => [iface.name, iface]));
  for (const [index, iface] of (after.domain.devices.interfaces ?? []).entries()) {
    const field = `spec.domain.devices.interfaces[${index}]`;
    const previous = old.get(iface.name);
    old.delete(iface.name);
    if (previous === undefined) {
      add(field, `interface ${iface.name} cannot be added while the guest runs: it needs a network beside the pod's`);
    } else if (previous.state === "absent" && iface.state !== "absent") {
      add(`${field}.state`, `interface ${iface.name} is gone; it comes again when the guest is started again`);
    } else if (!jsonEqual({ ...previous, state: "" }, { ...iface, state: "" })) {
      add(field, `interface ${iface.name} changed: only its state can change while the guest runs`);
    }
  }
  for (const { name } of old.values()) {
    add("spec.domain.devices.interfaces", `interface ${name} was removed: set its state to absent instead`);
  }
  if (!jsonEqual(before.networks ?? [], after.networks ?? []))
    add("spec.networks", "networks cannot change while the guest runs");
}

function checkCpu(before: VirtualMachineInstanceSpec, after: VirtualMachineInstanceSpec, add: Add): void {
  const { sockets: _, ...oldRest } = before.domain.cpu ?? {};
  const { sockets = 1, ...newRest } = after.domain.cpu ?? {};
  if (!jsonEqual(oldRest, newRest))
    add("spec.domain.cpu", "only the number of sockets can change while the guest runs");
  if (sockets < (before.domain.cpu?.sockets ?? 1))
    add("spec.domain.cpu.sockets", "sockets cannot be removed while the guest runs");
}

function checkMemory(before: VirtualMachineInstance, after: VirtualMachineInstance, add: Add): void {
  const field = "spec.domain.memory.guest";
  const old = before.spec.domain.memory;
  const memory = after.spec.domain.memory;
  const guest = bytesOf(memory?.guest);
  if (guest === bytesOf(old?.guest)) return;
  if (old?.maxGuest === undefined) {
    add(field, "the guest was started without room for more memory");
    return;
  }
  if (guest > bytesOf(old.maxGuest))
    add(field, `${field} '${memory?.guest}' is greater than spec.domain.memory.maxGuest '${old.maxGuest}'`);
  const atBoot = bytesOf(before.status?.memory?.guestAtBoot ?? old.guest);
  if (guest < atBoot) add(field, `${field} '${memory?.guest}' is less than the memory that the guest was started with`);
  const block = memoryBlockBytes(old.hugepages?.pageSize);
  if (guest % block !== 0) add(field, `${field} '${memory?.guest}' is not a multiple of ${block} bytes`);
}
