import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  OperatorImageInvalid: {
    meaning: "An image reference that virt-operator was started with cannot be split into repository and tag.",
    action: "Write it as repository:tag or repository@digest in the Deployment of virt-operator.",
    retry: false,
  },
  OperatorPatchFailed: {
    meaning: "A patch of customizeComponents does not fit the object that it names.",
    action: "Correct the patch in the KubeVirt object; `kubectl get` shows the object without it.",
    retry: false,
  },
  OperatorWriteUnseen: {
    meaning: "virt-operator wrote an object, and its watch did not show the change in time.",
    action: "None: it is tried again. If it persists, look at the API server's watches.",
    retry: true,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
