import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  VirtApiCertificateUnreadable: {
    meaning: "virt-api could not read its certificate, key or authority bundle.",
    action: "Check the Secret that the message names; virt-operator writes it and the kubelet mounts it.",
    retry: true,
  },
  VirtApiListenFailed: {
    meaning: "virt-api could not listen on its address.",
    action: "Free the port, or correct POD_IP.",
    retry: true,
  },
  VirtApiHandlerUnreachable: {
    meaning: "virt-api found no way to the virt-handler of a guest's node.",
    action: "Look at the virt-handler pod of that node.",
    retry: true,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
