import { createHash } from "node:crypto";
import type { VirtualMachineInstance } from "@polyvirt/api";

const MAX_NAME = 63;

/**
 * The pod's name follows from the VMI's UID, so that a controller that is restarted, or two that overlap for a moment,
 * cannot make two launchers for one guest: the second create fails.
 */
export function launcherPodName(vmi: VirtualMachineInstance): string {
  const { name = "", uid = "" } = vmi.metadata;
  const suffix = nameSuffix(uid);
  const stem = `virt-launcher-${name}`.slice(0, MAX_NAME - suffix.length - 1).replace(/[-.]+$/, "");
  return `${stem}-${suffix}`;
}

/** Five characters that follow from a UID. */
export function nameSuffix(uid: string): string {
  // Base 36 of the digest has the same look as the suffixes that Kubernetes generates.
  const digest = createHash("sha256").update(uid).digest();
  return digest.readUIntBE(0, 6).toString(36).padStart(5, "0").slice(-5);
}

/** Label values end at 63 characters; names may be longer. */
export function labelValue(text: string): string {
  return text.slice(0, MAX_NAME).replace(/[^A-Za-z0-9]+$/, "");
}

/** A host name from the VMI: its own choice, or its name up to the first dot. */
export function hostnameOf(vmi: VirtualMachineInstance): string {
  const wanted = vmi.spec.hostname ?? vmi.metadata.name ?? "";
  const [first = ""] = wanted.split(".");
  return first.slice(0, MAX_NAME).replace(/-+$/, "");
}
