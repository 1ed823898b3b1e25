import { conditionTypes, type VirtualMachineInstance, type VolumeStatus } from "@polyvirt/api";
import { isDomainAlive } from "../domain-phase.ts";
import { setCondition, type Status, type StatusPart } from "./status-part.ts";

type Spec = VirtualMachineInstance["spec"];

/** Something that ties a guest to its node; says what it is. */
interface Obstacle {
  readonly reason: string;
  readonly find: (vmi: VirtualMachineInstance, status: Status) => string | undefined;
}

const allowBridge = "kubevirt.io/allow-pod-bridge-network-live-migration";
const when = (found: boolean, message: string): string | undefined => (found ? message : undefined);

const obstacles: readonly Obstacle[] = [
  { reason: "DisksNotLiveMigratable", find: findLocalVolume },
  { reason: "InterfaceNotLiveMigratable", find: findTiedInterface },
  {
    reason: "VirtIOFSNotLiveMigratable",
    find: ({ spec }) =>
      when((spec.domain.devices.filesystems ?? []).length > 0, "the guest shares folders by virtiofs"),
  },
  {
    reason: "HostDeviceNotLiveMigratable",
    find: ({ spec: { domain } }) => {
      const { hostDevices = [], gpus = [], interfaces = [] } = domain.devices;
      const count = hostDevices.length + gpus.length + interfaces.filter(({ sriov }) => sriov !== undefined).length;
      return when(count > 0, "the guest drives devices of its node");
    },
  },
  {
    reason: "SEVNotLiveMigratable",
    find: ({ spec: { domain } }) =>
      when(
        (domain.launchSecurity?.sev ?? domain.launchSecurity?.snp) !== undefined,
        "the guest's memory is encrypted by SEV",
      ),
  },
  {
    reason: "TDXNotLiveMigratable",
    find: ({ spec }) => when(spec.domain.launchSecurity?.tdx !== undefined, "the guest is isolated by TDX"),
  },
  {
    reason: "PersistentReservationNotLiveMigratable",
    find: ({ spec }) =>
      when(
        (spec.domain.devices.disks ?? []).some(({ lun }) => lun?.reservation === true),
        "the guest uses SCSI persistent reservations",
      ),
  },
  {
    reason: "HypervPassthroughNotLiveMigratable",
    find: ({ spec }) =>
      when(
        spec.domain.features?.hypervPassthrough !== undefined &&
          spec.domain.features.hypervPassthrough.enabled !== false,
        "the guest has all enlightenments of its node",
      ),
  },
];

function findLocalVolume({ spec }: VirtualMachineInstance, { volumeStatus = [] }: Status): string | undefined {
  for (const { name, persistentVolumeClaim, hostDisk } of spec.volumes ?? []) {
    if (hostDisk !== undefined && hostDisk.shared !== true) return `volume ${name} is a file of its node`;
    if (persistentVolumeClaim === undefined) continue;
    const modes = volumeStatus.find((entry) => entry.name === name)?.persistentVolumeClaimInfo?.accessModes ?? [];
    if (!modes.includes("ReadWriteMany")) {
      return `claim ${persistentVolumeClaim.claimName} of volume ${name} is not shared: its access modes lack ReadWriteMany`;
    }
  }
  const kept = volumeStatus.find((entry) => isStateClaim(entry, spec) && !isSharedClaim(entry));
  return when(kept !== undefined, `claim ${kept?.name} keeps the guest's state and is not shared`);
}

/** The claim that keeps a TPM's state or UEFI variables is no volume of the VMI. */
function isStateClaim({ name, hotplugVolume }: VolumeStatus, { volumes = [] }: Spec): boolean {
  return hotplugVolume === undefined && !volumes.some((volume) => volume.name === name);
}

function isSharedClaim({ persistentVolumeClaimInfo: info }: VolumeStatus): boolean {
  return info?.accessModes?.includes("ReadWriteMany") === true;
}

/** A guest on its pod's own address loses it with the pod. */
function findTiedInterface({ spec, metadata }: VirtualMachineInstance): string | undefined {
  if (metadata.annotations?.[allowBridge] !== undefined) return undefined;
  const network = spec.networks?.find(({ pod }) => pod !== undefined)?.name;
  const tied = spec.domain.devices.interfaces?.find(({ name, bridge }) => name === network && bridge !== undefined);
  return when(tied !== undefined, `interface ${tied?.name} bridges to the pod's network; use masquerade`);
}

/** Kinds of volume whose content is in the pod and has to be copied. */
function hasLocalDisks({ volumes = [] }: Spec): boolean {
  return volumes.some(({ persistentVolumeClaim, dataVolume }) => (persistentVolumeClaim ?? dataVolume) === undefined);
}

/** Whether the guest could go to another node while it runs, and if not, why. */
export const liveMigratablePart: StatusPart = (status, { vmi, domain, now }) => {
  if (!isDomainAlive(domain)) return status;
  const type = conditionTypes.liveMigratable;
  for (const { reason, find } of obstacles) {
    const message = find(vmi, status);
    if (message !== undefined) return setCondition(status, { type, status: "False", reason, message }, now);
  }
  const migrationMethod = hasLocalDisks(vmi.spec) ? "BlockMigration" : "LiveMigration";
  return { ...setCondition(status, { type, status: "True" }, now), migrationMethod };
};
