import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  LauncherVmiMismatch: {
    meaning: "A launcher was asked about another VirtualMachineInstance than its own.",
    action: "Nothing to do: the node agent found the wrong launcher and will look again.",
    retry: false,
  },
  LauncherRequestMalformed: {
    meaning: "A request to the launcher cannot be read.",
    action: "Check the versions of virt-handler and virt-launcher.",
    retry: false,
  },
  LauncherVolumeUnsupported: {
    meaning: "The VirtualMachineInstance has a volume of a kind that this launcher cannot give to a guest.",
    action: "Use another kind of volume; the message names the field.",
    retry: false,
  },
  LauncherImageRefused: {
    meaning:
      "A disk image or kernel is not what it must be: wrong place, kind of file or architecture, or it refers to other files.",
    action:
      "Rebuild the image: one regular raw or qcow2 file in /disk, without backing file and data file, for the guest.",
    retry: false,
  },
  LauncherDiskFailed: {
    meaning: "A disk for the guest could not be made.",
    action: "Check the space and the rights of the launcher's ephemeral storage.",
    retry: true,
  },
  LauncherHookUnsupported: {
    meaning: "A plug-in wants to change the machine, and this launcher cannot run plug-ins.",
    action: "Use a launcher that can, or make the plug-in's condition exclude this machine.",
    retry: false,
  },
  LauncherNetworkFailed: {
    meaning: "The launcher cannot give the guest its network.",
    action: "Look at the cause; the node agent prepares the pod's network and may have been hindered.",
    retry: true,
  },
  LauncherCredentialsFailed: {
    meaning: "A secret with credentials for the guest's users could not be read in the launcher's pod.",
    action: "Check the secret that the message names; it is tried again.",
    retry: true,
  },
  LauncherStateMissing: {
    meaning: "The VirtualMachineInstance wants state that outlives its pod, and the pod has no volume for it.",
    action: "Give the cluster a storage class for the state of VMs, or do without persistent TPM and UEFI variables.",
    retry: false,
  },
  LauncherNotReady: {
    meaning: "The launcher's own command server did not answer it.",
    action: "Look at the launcher's log; its socket directory must be writable.",
    retry: false,
  },
  LauncherNotifyRefused: {
    meaning: "The node agent does not speak a version of the Notify API that this launcher speaks.",
    action: "Bring virt-handler and virt-launcher to versions that fit together.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
