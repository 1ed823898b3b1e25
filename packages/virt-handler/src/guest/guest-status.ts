import {
  conditionTypes,
  withCondition,
  withoutCondition,
  type VirtualMachineInstance,
  type VirtualMachineInstanceNetworkInterface,
} from "@polyvirt/api";
import type { GuestInfo, GuestInterface } from "./guest-info.ts";

type Status = NonNullable<VirtualMachineInstance["status"]>;

/** The VMI's status with what its guest tells of itself. */
export function withGuestInfo(vmi: VirtualMachineInstance, info: GuestInfo, now: Date): Status {
  // An agent that keeps file systems frozen answers hardly anything else: what it said before still holds.
  if (info.filesystemsFrozen && info.os === undefined) {
    return { ...vmi.status, fsFreezeStatus: "frozen", conditions: agentConditions(vmi.status ?? {}, info, now) };
  }
  const { guestOSInfo: _, fsFreezeStatus: __, ...rest } = vmi.status ?? {};
  const interfaces = mergeInterfaces(vmi, info);
  return {
    ...rest,
    ...(info.os === undefined ? {} : { guestOSInfo: info.os }),
    ...(info.filesystemsFrozen ? { fsFreezeStatus: "frozen" } : {}),
    ...(interfaces.length === 0 ? {} : { interfaces }),
    conditions: agentConditions(rest, info, now),
  };
}

function agentConditions(
  status: Status,
  { connected, supported, credentials }: GuestInfo,
  now: Date,
): NonNullable<Status["conditions"]> {
  const at = now.toISOString().replace(/\.\d+Z$/, "Z");
  if (!connected) {
    const { agentConnected, agentVersionNotSupported } = conditionTypes;
    return withoutCondition(withoutCondition(status.conditions, agentConnected), agentVersionNotSupported);
  }
  const told = credentialConditions(status.conditions, credentials, at);
  const known = withCondition(told, { type: conditionTypes.agentConnected, status: "True" }, at);
  if (supported) return withoutCondition(known, conditionTypes.agentVersionNotSupported);
  const message = "the guest's agent lacks commands that are needed";
  const reason = "AgentCommandsMissing";
  return withCondition(known, { type: conditionTypes.agentVersionNotSupported, status: "True", reason, message }, at);
}

/** Stays as it was while nothing is known: what the guest has been given, it has. */
function credentialConditions(
  conditions: Status["conditions"],
  credentials: GuestInfo["credentials"],
  at: string,
): Status["conditions"] {
  if (credentials === undefined) return conditions;
  const type = conditionTypes.accessCredentialsSynchronized;
  if (credentials.succeeded) return withCondition(conditions, { type, status: "True" }, at);
  const { message } = credentials;
  return withCondition(conditions, { type, status: "False", reason: "AccessCredentialsSyncFailed", message }, at);
}

/** What the node knows of each interface, completed by the guest; what only the guest has comes after. */
function mergeInterfaces(vmi: VirtualMachineInstance, info: GuestInfo): VirtualMachineInstanceNetworkInterface[] {
  const known = (vmi.status?.interfaces ?? []).filter(({ infoSource }) => infoSource !== "guest-agent");
  if (!info.connected) return known;
  const left = new Set(info.interfaces);
  const merged = known.map((entry) => {
    const reported = findReported(entry, left, known.length);
    if (reported === undefined) return entry;
    left.delete(reported);
    return completed(vmi, entry, reported);
  });
  return [...merged, ...[...left].map(fromGuest)];
}

/** By hardware address; a single interface on both sides needs none. */
function findReported(
  entry: VirtualMachineInstanceNetworkInterface,
  reported: ReadonlySet<GuestInterface>,
  count: number,
): GuestInterface | undefined {
  const all = [...reported];
  const byMac = all.find(({ mac }) => mac !== undefined && mac === entry.mac?.toLowerCase());
  return byMac ?? (entry.mac === undefined && count === 1 && all.length === 1 ? all[0] : undefined);
}

function completed(
  vmi: VirtualMachineInstance,
  entry: VirtualMachineInstanceNetworkInterface,
  { name, mac, addresses }: GuestInterface,
): VirtualMachineInstanceNetworkInterface {
  const spec = vmi.spec.domain.devices.interfaces?.find((candidate) => candidate.name === entry.name);
  // Behind masquerade the guest has an address of its own that nobody outside can reach.
  const own = spec?.masquerade !== undefined || addresses.length === 0;
  // SAFETY: others connect to the first address, so it is the node's own word where there is one, never the guest's.
  const all = [...new Set([...(entry.ipAddress === undefined ? [] : [entry.ipAddress]), ...addresses])];
  return {
    ...entry,
    interfaceName: name,
    infoSource: "domain, guest-agent",
    ...(mac === undefined ? {} : { mac }),
    ...(own ? {} : { ipAddress: all[0] ?? "", ipAddresses: all }),
  };
}

function fromGuest({ name, mac, addresses }: GuestInterface): VirtualMachineInstanceNetworkInterface {
  return {
    interfaceName: name,
    infoSource: "guest-agent",
    ...(mac === undefined ? {} : { mac }),
    ...(addresses[0] === undefined ? {} : { ipAddress: addresses[0], ipAddresses: [...addresses] }),
  };
}
