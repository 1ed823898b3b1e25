import { isHotpluggable, type Disk, type VirtualMachineInstance, type VolumeStatus } from "@polyvirt/api";
import type { Domain, DomainDisk } from "@polyvirt/domain";
import type { VolumeLocation } from "@polyvirt/hypervisor";

/** By volume, which is also the name of its disk. */
export interface DiskChanges {
  readonly attach: readonly string[];
  readonly detach: readonly string[];
}

/** Names from the VMI carry this prefix in a definition. */
const ALIAS = /^ua-/;
/** How far the node agent is with a volume when its disk can be used. */
const usable: readonly (string | undefined)[] = ["MountedToPod", "Ready"];

/**
 * What differs between the disks of the running machine and those that the VMI wants. Only disks in the folder of
 * hotplugged ones are ever taken out: a definition that somebody's plug-in changed keeps what it has.
 */
export function planDisks(vmi: VirtualMachineInstance, definition: Domain, folder: string): DiskChanges {
  const present = definition.devices?.disks ?? [];
  const names = new Set(present.map(diskName));
  const wanted = new Set((vmi.spec.volumes ?? []).map(({ name }) => name));
  const disks = new Set((vmi.spec.domain.devices.disks ?? []).map(({ name }) => name));
  return {
    attach: (vmi.spec.volumes ?? [])
      .filter((volume) => isHotpluggable(volume) && isUsable(vmi, volume.name))
      .map(({ name }) => name)
      .filter((name) => disks.has(name) && !names.has(name)),
    detach: present
      .filter((disk) => pathOf(disk)?.startsWith(`${folder}/`) === true)
      .map(diskName)
      .filter((name) => name !== "" && !wanted.has(name)),
  };
}

/**
 * The VMI as a machine can start with it. Volumes that have not come yet are left out, and come later; so are those that
 * are devices of their own, because only a device that was plugged in can be unplugged on every stack.
 */
export function withoutAbsentVolumes(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const disks = vmi.spec.domain.devices.disks ?? [];
  const onBus = new Set(disks.filter(({ disk }) => (disk?.bus ?? "virtio") === "virtio").map(({ name }) => name));
  const absent = new Set(
    (vmi.spec.volumes ?? [])
      .filter((volume) => isHotpluggable(volume) && (!isUsable(vmi, volume.name) || onBus.has(volume.name)))
      .map(({ name }) => name),
  );
  return absent.size === 0 ? vmi : keepVolumes(vmi, (name) => !absent.has(name));
}

/** The VMI with some of its volumes, and their disks, alone. */
export function keepVolumes(vmi: VirtualMachineInstance, keep: (name: string) => boolean): VirtualMachineInstance {
  const { volumes = [], domain } = vmi.spec;
  const { disks = [] } = domain.devices;
  const devices = { ...domain.devices, disks: disks.filter(({ name }) => keep(name)) };
  return {
    ...vmi,
    spec: { ...vmi.spec, volumes: volumes.filter(({ name }) => keep(name)), domain: { ...domain, devices } },
  };
}

/**
 * A VMI that has nothing but disks: those of the machine, under the names that the guest knows, and new ones. Converting
 * it tells how the new ones have to look, without preparing everything else a second time.
 */
export function disksAlone(vmi: VirtualMachineInstance, definition: Domain): VirtualMachineInstance {
  const { firmware: _, ...domain } = vmi.spec.domain;
  const { disks = [], useVirtioTransitional, blockMultiQueue } = domain.devices;
  const volumeStatus = (definition.devices?.disks ?? []).map((disk): VolumeStatus => {
    return { name: diskName(disk), target: disk.target?.dev ?? "" };
  });
  return {
    ...vmi,
    spec: {
      ...vmi.spec,
      networks: [],
      domain: {
        ...domain,
        devices: {
          disks: disks.map(withoutBootOrder),
          ...(useVirtioTransitional === undefined ? {} : { useVirtioTransitional }),
          ...(blockMultiQueue === undefined ? {} : { blockMultiQueue }),
        },
      },
    },
    status: { ...vmi.status, volumeStatus },
  };
}

/** Where the disks of the machine are, for a conversion in which they only take part. */
export function presentLocations(definition: Domain): Record<string, VolumeLocation> {
  const disks = definition.devices?.disks ?? [];
  return Object.fromEntries(
    disks.map((disk) => {
      const kind = disk.type === "block" ? "block" : "file";
      const format = disk.driver?.type === "qcow2" ? "qcow2" : "raw";
      return [diskName(disk), { kind, path: pathOf(disk) ?? "", format }];
    }),
  );
}

export function diskName({ alias }: DomainDisk): string {
  return alias?.name?.replace(ALIAS, "") ?? "";
}

function pathOf({ source }: DomainDisk): string | undefined {
  return source?.file ?? source?.dev;
}

/** The order is decided when the machine starts. */
function withoutBootOrder(given: Disk): Disk {
  const { bootOrder: _, ...disk } = given;
  return disk;
}

function isUsable({ status }: VirtualMachineInstance, volume: string): boolean {
  return usable.includes(status?.volumeStatus?.find(({ name }) => name === volume)?.phase);
}
