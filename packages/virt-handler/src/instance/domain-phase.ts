import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@polyvirt/api";
import type { DomainDocument, DomainReason, DomainState } from "@polyvirt/protocol";

/** How a machine ended, for the VMI's phase, its reason and an event. */
export interface GuestEnd {
  readonly phase: "Succeeded" | "Failed";
  /** CamelCase, for `status.reason`. */
  readonly reason: string;
  readonly message: string;
}

const aliveStates: readonly DomainState[] = ["Running", "Blocked", "Paused", "PMSuspended", "ShuttingDown"];

export function isDomainAlive(domain: DomainDocument | undefined): boolean {
  if (domain === undefined || domain.Status.Reason === "PostcopyFailed") return false;
  return aliveStates.includes(domain.Status.Status);
}

const endings: Partial<Record<DomainReason, GuestEnd>> = {
  Shutdown: { phase: "Succeeded", reason: "GuestShutdown", message: "The VirtualMachineInstance was shut down." },
  Saved: { phase: "Succeeded", reason: "GuestSaved", message: "The guest was saved." },
  FromSnapshot: { phase: "Succeeded", reason: "GuestSnapshot", message: "The guest ended in a snapshot." },
  Crashed: { phase: "Failed", reason: "GuestCrashed", message: "The VirtualMachineInstance crashed." },
  Panicked: { phase: "Failed", reason: "GuestPanicked", message: "The guest's kernel panicked." },
  Destroyed: { phase: "Failed", reason: "GuestKilled", message: "The guest was ended by force." },
  PostcopyFailed: { phase: "Failed", reason: "PostcopyFailed", message: "The guest was lost in a live migration." },
};

/** Undefined while the machine lives, and when it went to another node: then the target reports. */
export function guestEnd(vmi: VirtualMachineInstance, domain: DomainDocument): GuestEnd | undefined {
  const { Status: state, Reason: reason } = domain.Status;
  const ended = state === "Shutoff" || state === "Crashed" || reason === "PostcopyFailed";
  if (!ended || reason === "Migrated") return undefined;
  const known = endings[reason] ?? {
    phase: "Failed",
    reason: "GuestFailed",
    message: `The guest ended as ${state} (${reason}).`,
  };
  // Without ACPI a guest cannot be asked to end, so force is the ordinary way.
  const ending: GuestEnd = reason === "Destroyed" && !hasAcpi(vmi) ? { ...known, phase: "Succeeded" } : known;
  if (domain.message === undefined || ending.phase === "Succeeded") return ending;
  // The sentence that KubeVirt's users know, then what the stack knows about it.
  return { ...ending, message: `${ending.message.replace(/\.$/, "")}: ${domain.message}` };
}

function hasAcpi(vmi: VirtualMachineInstance): boolean {
  return vmi.spec.domain.features?.acpi?.enabled !== false;
}

/** The phase of a VMI whose machine is alive. */
export function livePhase(current: VirtualMachineInstancePhase | undefined, domain: DomainDocument) {
  return isDomainAlive(domain) ? "Running" : current;
}

const pauseReasons: Partial<Record<DomainReason, { reason: string; message: string }>> = {
  User: { reason: "PausedByUser", message: "VMI was paused by user" },
  Migration: { reason: "PausedByMigrationMonitor", message: "VMI was paused by its migration" },
  IOError: { reason: "PausedIOError", message: "VMI was paused because of an input/output error" },
  Watchdog: { reason: "PausedByWatchdog", message: "VMI was paused by its watchdog" },
  Crashed: { reason: "PausedGuestCrashed", message: "VMI was paused because its guest crashed" },
};

/** Why a paused machine is paused; undefined when it is not, or only starts up. */
export function pauseOf(domain: DomainDocument | undefined): { reason: string; message: string } | undefined {
  if (domain?.Status.Status !== "Paused" || domain.Status.Reason === "StartingUp") return undefined;
  return pauseReasons[domain.Status.Reason] ?? { reason: `Paused${domain.Status.Reason}`, message: "VMI is paused" };
}
