import type { VirtualMachineInstance } from "@polyvirt/api";
import { Refusal } from "../server/status.ts";

/** Whether this VMI has a serial console that can be opened now. */
export function checkConsole(vmi: VirtualMachineInstance): void {
  if (vmi.status?.phase !== "Running") throw new Refusal(409, "VMI is not running");
  if (vmi.spec.domain.devices.autoattachSerialConsole === false) {
    throw new Refusal(400, "No serial consoles are present.");
  }
}

/** Where virt-handler serves it. */
export function consolePath(namespace: string, name: string): string {
  return `/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/console`;
}
