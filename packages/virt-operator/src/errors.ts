import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  OperatorImageInvalid: {
    meaning: "An image reference that virt-operator was started with cannot be split into repository and tag.",
    action: "Write it as repository:tag or repository@digest in the Deployment of virt-operator.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
