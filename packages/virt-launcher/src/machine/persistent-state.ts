import { existsSync } from "node:fs";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { errors } from "../errors.ts";

type Spec = VirtualMachineInstance["spec"];

/** Fields that ask for state which outlives the pod. */
const wishes: readonly { readonly field: string; readonly isMade: (spec: Spec) => boolean }[] = [
  {
    field: "spec.domain.firmware.bootloader.efi.persistent",
    isMade: ({ domain }) => domain.firmware?.bootloader?.efi?.persistent === true,
  },
  { field: "spec.domain.devices.tpm.persistent", isMade: ({ domain }) => domain.devices.tpm?.persistent === true },
];

/** Refuses a VMI whose state would silently be lost with the pod. */
export function requirePersistentState({ spec }: VirtualMachineInstance, folder: string): void {
  const fields = wishes.filter(({ isMade }) => isMade(spec)).map(({ field }) => field);
  if (fields.length === 0 || existsSync(folder)) return;
  throw errors.LauncherStateMissing(
    `keep the state of the guest (${fields.join(", ")}): its pod has no volume for it`,
    {
      fields: { fields },
    },
  );
}
