import type { DomainEvent } from "@polyvirt/stack";
import type { CredentialResult } from "../access-credentials/credential-sync.ts";
import type { VmiIdentity } from "../launcher-options.ts";

interface Told {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** What happens in the guest that its owner wants to read, as a Kubernetes Event about the VMI; undefined for the rest. */
export function guestEvent(event: DomainEvent, vmi: VmiIdentity): object | undefined {
  const told = tell(event);
  return told === undefined ? undefined : eventAbout(vmi, told);
}

/** A move was tried, and the guest runs on where it was. */
export function migrationFailed(message: string, vmi: VmiIdentity): object {
  return eventAbout(vmi, warning("FailedMigration", message));
}

/** The guest did not do what one of its probes asks for. */
export function probeFailed(message: string, vmi: VmiIdentity): object {
  return eventAbout(vmi, warning("Unhealthy", `Probe failed: ${message}`));
}

/** The guest's users have their credentials, or why not. */
export function credentialEvent({ succeeded, message }: CredentialResult, vmi: VmiIdentity): object {
  if (!succeeded) return eventAbout(vmi, warning("AccessCredentialsSyncFailed", message));
  const done = "Access credentials sync successful.";
  return eventAbout(vmi, { type: "Normal", reason: "AccessCredentialsSyncSuccess", message: done });
}

function eventAbout({ name, namespace, uid }: VmiIdentity, told: Told): object {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { generateName: `${name}.`, namespace },
    involvedObject: { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name, namespace, uid },
    source: { component: "virt-launcher" },
    ...told,
  };
}

function tell(event: DomainEvent): Told | undefined {
  switch (event.kind) {
    case "ioError": {
      const why = event.noSpace ? "not enough space on volume" : "IO error at the volume";
      return warning("IOerror", `VM Paused due to ${why}: ${volumeOf(event.device)}`);
    }
    case "guestPanicked":
      return warning("GuestPanicked", `The guest's kernel panicked: ${event.message}`);
    case "watchdog":
      return warning("GuestWatchdog", `The guest stopped feeding its watchdog; action: ${event.action}`);
    case "reset":
      return event.byGuest ? { type: "Normal", reason: "GuestRebooted", message: "The guest rebooted." } : undefined;
    case "deviceRemovalRefused":
      return warning("DeviceRemovalRefused", `The guest does not let go of ${volumeOf(event.alias)}.`);
    case "status":
    case "guestAgent":
    case "deviceRemoved":
    case "memoryChanged":
      return undefined;
  }
}

/** Devices that the VMI names carry its name behind this prefix. */
function volumeOf(alias: string): string {
  return alias.replace(/^ua-/, "");
}

function warning(reason: string, message: string): Told {
  return { type: "Warning", reason, message };
}
