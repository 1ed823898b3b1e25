import { isJsonObject } from "@polyvirt/core";
import type { DomainDocument } from "@polyvirt/protocol";
import { isDomainAlive } from "../domain-phase.ts";
import type { Status, StatusPart } from "./status-part.ts";

/** What of a machine's definition is shown: a launcher can write anything into it, so all of it is checked. */
interface MachineFacts {
  readonly machineType: string | undefined;
  /** Device names in the guest by the name of the disk: `vda`. */
  readonly targets: ReadonlyMap<string, string>;
}

const MAX_DISKS = 256;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
/** Names from the VMI carry this prefix in a definition. */
const ALIAS = /^ua-/;

/** Names under which the guest sees its disks, by volume. */
export function diskTargets(domain: DomainDocument): ReadonlyMap<string, string> {
  return readMachine(domain).targets;
}

function readMachine({ definition }: DomainDocument): MachineFacts {
  const root = asObject(definition);
  const disks = asObject(root["devices"])["disks"];
  const targets = new Map<string, string>();
  for (const disk of Array.isArray(disks) ? disks.slice(0, MAX_DISKS) : []) {
    const alias = name(asObject(asObject(disk)["alias"])["name"])?.replace(ALIAS, "");
    const target = name(asObject(asObject(disk)["target"])["dev"]);
    if (alias !== undefined && target !== undefined) targets.set(alias, target);
  }
  return { machineType: name(asObject(asObject(root["os"])["type"])["machine"]), targets };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function name(value: unknown): string | undefined {
  return typeof value === "string" && NAME.test(value) ? value : undefined;
}

/** Which machine the guest got, and under which name it sees each volume. */
export const machinePart: StatusPart = (status, { vmi, domain }) => {
  if (domain === undefined || !isDomainAlive(domain)) return status;
  const { machineType, targets } = readMachine(domain);
  const volumes = (vmi.spec.volumes ?? []).flatMap(({ name: volume }) => {
    const target = targets.get(volume);
    const entry = known(status, volume);
    // One that comes while the guest runs has a place in the status before it has one in the guest.
    if (target === undefined) return entry?.hotplugVolume === undefined ? [] : [{ ...entry, target: "" }];
    return [{ ...entry, name: volume, target }];
  });
  // A claim that keeps the guest's state is no volume of the VMI; what is known about it stays.
  const others = (status.volumeStatus ?? []).filter(({ name: entry }) => {
    return vmi.spec.volumes?.some(({ name: volume }) => volume === entry) !== true;
  });
  const leaving = others.map((entry) =>
    entry.hotplugVolume === undefined ? entry : { ...entry, target: targets.get(entry.name) ?? "" },
  );
  const shown = [...volumes, ...leaving];
  return {
    ...status,
    ...(machineType === undefined ? {} : { machine: { type: machineType } }),
    ...(shown.length === 0 ? {} : { volumeStatus: shown.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }),
  };
};

/** What virt-controller has noted about the volume's claim. */
function known(status: Status, volume: string) {
  return status.volumeStatus?.find((entry) => entry.name === volume);
}
