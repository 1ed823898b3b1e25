import { existsSync } from "node:fs";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { errors } from "../errors.ts";

type Spec = VirtualMachineInstance["spec"];

interface Wish {
  readonly field: string;
  /** Where the pod has a volume for it, below the folder for state. */
  readonly folder: string;
  readonly isMade: (spec: Spec) => boolean;
}

/** Fields that ask for state which outlives the pod. */
const wishes: readonly Wish[] = [
  {
    field: "spec.domain.firmware.bootloader.efi.persistent",
    folder: "nvram",
    isMade: ({ domain }) => domain.firmware?.bootloader?.efi?.persistent === true,
  },
  {
    field: "spec.domain.devices.tpm.persistent",
    folder: "swtpm",
    isMade: ({ domain: { devices } }) => devices.tpm?.persistent === true && devices.tpm.enabled !== false,
  },
];

/** Refuses a VMI whose state would silently be lost with the pod. */
export function requirePersistentState({ spec }: VirtualMachineInstance, folder: string): void {
  const lost = wishes.filter((wish) => wish.isMade(spec) && !existsSync(`${folder}/${wish.folder}`));
  const fields = lost.map(({ field }) => field);
  if (fields.length === 0) return;
  throw errors.LauncherStateMissing(
    `keep the state of the guest (${fields.join(", ")}): its pod has no volume for it`,
    {
      fields: { fields },
    },
  );
}
