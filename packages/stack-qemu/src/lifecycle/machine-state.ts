import type { DomainEvent, DomainStatus } from "@polyvirt/stack";
import type { VmmExit } from "../process/vmm-process.ts";
import type { QmpEvent } from "../qmp/qmp-client.ts";

/** What is known about a machine from what QEMU said and what was asked of it. Plain data; the functions are pure. */
export interface MachineState {
  readonly status: DomainStatus;
  /** Why the next stop of the CPUs happens; QEMU says it before it stops. */
  readonly stopCause: DomainStatus["reason"] | undefined;
  /** QEMU's word for why it is about to end. */
  readonly shutdownReason: string | undefined;
  readonly panic: string | undefined;
  /** Why the launcher ends the machine, when it does. */
  readonly ending: Ending | undefined;
}

/** The plug was pulled; the machine is elsewhere; or it came to pieces on the way there. */
export type Ending = "Destroyed" | "Migrated" | "Lost";

export interface Transition {
  readonly state: MachineState;
  readonly events: readonly DomainEvent[];
}

export const startingState: MachineState = {
  status: { state: "Paused", reason: "StartingUp" },
  stopCause: undefined,
  shutdownReason: undefined,
  panic: undefined,
  ending: undefined,
};

type Handler = (state: MachineState, data: QmpEvent["data"]) => Transition;

/** The pause that the launcher is about to ask for is the user's. */
export function askedToPause(state: MachineState): MachineState {
  return { ...state, stopCause: "User" };
}

/** While it is being moved, a stop of the CPUs is the move's. */
export function askedToMove(state: MachineState): MachineState {
  return { ...state, stopCause: "Migration" };
}

/** A machine that waits to be filled from elsewhere. */
export const receivingState: MachineState = { ...startingState, status: { state: "Paused", reason: "Migration" } };

export function askedToEnd(state: MachineState, ending: Ending): MachineState {
  return { ...state, ending };
}

export function onQmpEvent(state: MachineState, event: QmpEvent): Transition {
  return handlers[event.name]?.(state, event.data) ?? { state, events: [] };
}

const handlers: Readonly<Record<string, Handler>> = {
  RESUME: (state) => changed({ ...state, stopCause: undefined }, { state: "Running", reason: "Unknown" }),
  STOP: (state) => {
    // On its way out QEMU stops the CPUs as well; that is no pause.
    if (state.shutdownReason !== undefined) return { state, events: [] };
    return changed({ ...state, stopCause: undefined }, { state: "Paused", reason: state.stopCause ?? "Unknown" });
  },
  SUSPEND: (state) => changed(state, { state: "PMSuspended", reason: "Unknown" }),
  WAKEUP: (state) => changed(state, { state: "Running", reason: "Unknown" }),
  SHUTDOWN: (state, data) =>
    changed({ ...state, shutdownReason: text(data["reason"]) }, { state: "ShuttingDown", reason: "Unknown" }),
  RESET: (state, data) => ({ state, events: [{ kind: "reset", byGuest: data["guest"] === true }] }),
  GUEST_PANICKED: (state, data) => {
    const message = describePanic(data["info"]);
    return {
      state: { ...state, panic: message, stopCause: "Crashed" },
      events: [{ kind: "guestPanicked", message }],
    };
  },
  WATCHDOG: (state, data) => ({
    state: data["action"] === "pause" ? { ...state, stopCause: "Watchdog" } : state,
    events: [{ kind: "watchdog", action: text(data["action"]) }],
  }),
  BLOCK_IO_ERROR: (state, data) => ({
    state: data["action"] === "stop" ? { ...state, stopCause: "IOError" } : state,
    events: [
      {
        kind: "ioError",
        device: deviceOf(data),
        noSpace: data["nospace"] === true,
        message: text(data["reason"]),
      },
    ],
  }),
  DEVICE_DELETED: (state, data) =>
    // QEMU reports parts of a device too; only the device itself has an id.
    ({ state, events: typeof data["device"] === "string" ? [{ kind: "deviceRemoved", alias: data["device"] }] : [] }),
  DEVICE_UNPLUG_GUEST_ERROR: (state, data) => ({
    state,
    events: typeof data["device"] === "string" ? [{ kind: "deviceRemovalRefused", alias: data["device"] }] : [],
  }),
  BALLOON_CHANGE: (state, data) => ({ state, events: [{ kind: "memoryChanged", bytes: Number(data["actual"]) }] }),
};

/** How a machine ended, told from QEMU's last words and its exit. */
export function onExit(state: MachineState, exit: VmmExit): Transition {
  return changed(state, endOf(state, exit));
}

function endOf(state: MachineState, exit: VmmExit): DomainStatus {
  if (state.ending === "Lost") {
    const message = "the connection broke while the machine was moved by post-copy: each end had a part of its memory";
    return { state: "Crashed", reason: "Crashed", message };
  }
  if (state.ending !== undefined) return { state: "Shutoff", reason: state.ending };
  switch (state.shutdownReason) {
    case "guest-shutdown":
      return { state: "Shutoff", reason: "Shutdown", message: "the guest powered off" };
    case "guest-reset":
      return {
        state: "Shutoff",
        reason: "Shutdown",
        message: "the guest rebooted, and its definition says to end then",
      };
    case "guest-panic":
      return {
        state: "Crashed",
        reason: "Panicked",
        message: `the guest's kernel panicked: ${state.panic ?? "no details"}`,
      };
    case "host-signal":
      return { state: "Shutoff", reason: "Destroyed", message: "QEMU was told by a signal to end" };
    case "host-qmp-quit":
      return { state: "Shutoff", reason: "Destroyed" };
    case undefined:
      break;
    default:
      return {
        state: "Crashed",
        reason: "Crashed",
        message: `QEMU gave up (${state.shutdownReason}): ${lastWords(exit)}`,
      };
  }
  return { state: "Crashed", reason: "Crashed", message: `QEMU ${describeExit(exit)}: ${lastWords(exit)}` };
}

export function describeExit(exit: VmmExit): string {
  return exit.signal === undefined ? `ended with code ${exit.code ?? "unknown"}` : `was killed by ${exit.signal}`;
}

/** What QEMU wrote last, short enough for a condition. */
export function lastWords(exit: VmmExit): string {
  const lines = exit.stderr.split("\n").filter((line) => line.trim() !== "");
  return lines.length === 0 ? "it wrote nothing" : lines.slice(-3).join("; ").slice(-1000);
}

function changed(state: MachineState, status: DomainStatus): Transition {
  return { state: { ...state, status }, events: [{ kind: "status", status }] };
}

function describePanic(info: unknown): string {
  return typeof info === "object" && info !== null ? JSON.stringify(info).slice(0, 500) : "the guest gave no details";
}

function deviceOf(data: QmpEvent["data"]): string {
  // `device` is empty for block devices that were made with -blockdev; the path then ends in the device's id.
  const path = /\/machine\/peripheral\/([^/]+)/.exec(text(data["qom-path"]));
  return text(data["device"]) || (path?.[1] ?? text(data["node-name"]));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
