import type { DomainEvent, DomainStatus } from "@polyvirt/stack";
import type { LibvirtEvent } from "../rpc/libvirt-connection.ts";

type Reason = DomainStatus["reason"];

/** libvirt's numbers for states and, for each, for the reasons, in the words of the contract. */
const states: readonly { readonly state: DomainStatus["state"]; readonly reasons: readonly Reason[] }[] = [
  { state: "NoState", reasons: [] },
  { state: "Running", reasons: [] },
  { state: "Blocked", reasons: [] },
  {
    state: "Paused",
    reasons: [
      "Unknown",
      "User",
      "Migration",
      "Save",
      "Dump",
      "IOError",
      "Watchdog",
      "FromSnapshot",
      "ShuttingDown",
      "Snapshot",
      "Crashed",
      "StartingUp",
      "Postcopy",
      "PostcopyFailed",
    ],
  },
  { state: "ShuttingDown", reasons: [] },
  {
    state: "Shutoff",
    reasons: ["Unknown", "Shutdown", "Destroyed", "Crashed", "Migrated", "Saved", "Failed", "FromSnapshot", "Failed"],
  },
  { state: "Crashed", reasons: ["Unknown", "Panicked"] },
  { state: "PMSuspended", reasons: [] },
];

/** What the daemon says about a machine when it is asked. */
export function statusOf(state: number, reason: number): DomainStatus {
  const known = states[state];
  const found: DomainStatus = { state: known?.state ?? "Unknown", reason: known?.reasons[reason] ?? "Unknown" };
  // A machine whose monitor went away is off to libvirt; to the contract it has crashed.
  const crashed = found.state === "Shutoff" && ["Crashed", "Failed", "Unknown"].includes(found.reason);
  return crashed ? { state: "Crashed", reason: "Crashed" } : found;
}

const startedByMigration = 1;

/** Details of a lifecycle event, by libvirt's number for the event. */
const lifecycle: Readonly<Record<number, (detail: number) => DomainStatus>> = {
  // A machine that comes from elsewhere waits until all of it has arrived.
  2: (detail) =>
    detail === startedByMigration ? { state: "Paused", reason: "Migration" } : { state: "Running", reason: "Unknown" },
  3: (detail) => ({
    state: "Paused",
    reason:
      (
        [
          "User",
          "Migration",
          "IOError",
          "Watchdog",
          "Unknown",
          "FromSnapshot",
          "Unknown",
          "Postcopy",
          "PostcopyFailed",
        ] as const
      )[detail] ?? "Unknown",
  }),
  4: () => ({ state: "Running", reason: "Unknown" }),
  5: (detail) => stopped[detail] ?? { state: "Crashed", reason: "Crashed" },
  6: () => ({ state: "ShuttingDown", reason: "Unknown" }),
  7: () => ({ state: "PMSuspended", reason: "Unknown" }),
  8: () => ({ state: "Crashed", reason: "Panicked" }),
};

const stopped: readonly DomainStatus[] = [
  { state: "Shutoff", reason: "Shutdown", message: "the guest powered off" },
  { state: "Shutoff", reason: "Destroyed" },
  { state: "Crashed", reason: "Crashed" },
  { state: "Shutoff", reason: "Migrated" },
  { state: "Shutoff", reason: "Saved" },
  { state: "Crashed", reason: "Crashed" },
  { state: "Shutoff", reason: "FromSnapshot" },
];

/** The state that a lifecycle event speaks of; undefined for events that are about definitions. */
export function lifecycleStatus(event: number, detail: number): DomainStatus | undefined {
  return lifecycle[event]?.(detail);
}

const watchdogActions = ["none", "pause", "reset", "poweroff", "shutdown", "debug", "inject-nmi"];
const agentConnected = 1;
const kibibyte = 1024;

/** Everything but a change of state, as the contract tells it. */
export function contractEvents(event: Exclude<LibvirtEvent, { name: "lifecycle" }>): DomainEvent[] {
  switch (event.name) {
    case "watchdog":
      return [{ kind: "watchdog", action: watchdogActions[event.message.body.action] ?? "unknown" }];
    case "ioError": {
      const { alias, reason, source } = event.message.body;
      const message = reason === "" ? `input or output failed on ${source}` : reason;
      return [{ kind: "ioError", device: alias, noSpace: reason === "enospc", message }];
    }
    case "balloonChange":
      return [{ kind: "memoryChanged", bytes: Number(event.message.body.actualKib) * kibibyte }];
    case "deviceRemoved":
      return [{ kind: "deviceRemoved", alias: event.message.body.alias }];
    case "deviceRemovalFailed":
      return [{ kind: "deviceRemovalRefused", alias: event.message.alias }];
    case "agentLifecycle":
      return [{ kind: "guestAgent", connected: event.message.state === agentConnected }];
    case "monitor":
      return monitorEvents(event.message.event, parseDetails(event.message.details));
  }
}

/** QEMU's own events that libvirt does not pass on with all that they say. */
export const listenedMonitorEvents = ["RESET", "GUEST_PANICKED"];

function monitorEvents(name: string, details: Readonly<Record<string, unknown>>): DomainEvent[] {
  if (name === "RESET") return [{ kind: "reset", byGuest: details["guest"] === true }];
  if (name === "GUEST_PANICKED") {
    const { info } = details;
    const message = info === undefined ? "the guest gave no details" : JSON.stringify(info).slice(0, 500);
    return [{ kind: "guestPanicked", message }];
  }
  return [];
}

function parseDetails(json: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    // JSON objects have string keys; anything else is looked up as if empty.
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
