import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  LauncherPodVolumeUnsupported: {
    meaning: "A volume of the VMI is of a kind that launcher pods cannot carry yet.",
    action: "Use a containerDisk, emptyDisk, cloud-init, claim, config map, secret or service account volume instead.",
    retry: false,
  },
  LauncherPodArchitectureUnknown: {
    meaning: "The VMI asks for a guest architecture that is not known.",
    action: "Set spec.architecture to amd64, arm64 or s390x.",
    retry: false,
  },
  LauncherPodNameTaken: {
    meaning: "A pod that does not belong to the VMI has the name of its launcher pod.",
    action: "Delete or rename the pod that the message names.",
    retry: true,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
