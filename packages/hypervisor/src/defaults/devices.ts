import type { VirtualMachineInstance } from "@polyvirt/api";
import { parseArchitecture } from "../architecture.ts";
import { architectureProfiles } from "../arch/index.ts";
import { isUnset } from "./step.ts";

/** `autoattachInputDevice` asks for one pointer when the VMI lists none. */
export function setInputDevices(draft: VirtualMachineInstance): void {
  const { devices } = draft.spec.domain;
  if (devices.autoattachInputDevice === true && (devices.inputs?.length ?? 0) === 0) {
    devices.inputs = [{ name: "default-0", bus: "", type: "" }];
  }
  const architecture = parseArchitecture(draft.spec.architecture ?? "");
  const usb = architecture === undefined || architectureProfiles[architecture].usb !== "never";
  for (const input of devices.inputs ?? []) {
    if (isUnset(input.bus)) input.bus = usb ? "usb" : "virtio";
    if (isUnset(input.type)) input.type = "tablet";
  }
}

export function setWatchdogAction(model: "i6300esb" | "diag288"): (draft: VirtualMachineInstance) => void {
  return (draft) => {
    const watchdog = draft.spec.domain.devices.watchdog;
    if (watchdog === undefined) return;
    // Without any model the user means "a watchdog": the one this architecture has.
    if (watchdog.i6300esb === undefined && watchdog.diag288 === undefined) watchdog[model] = {};
    const device = watchdog[model];
    if (device !== undefined && isUnset(device.action)) device.action = "reset";
  };
}
