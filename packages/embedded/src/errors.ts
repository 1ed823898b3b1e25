import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  StoreLocked: {
    meaning: "Another process has the store's directory open.",
    action: "Stop that process, or start with another data directory.",
    retry: false,
  },
  StoreFormatUnknown: {
    meaning: "The store was written by a version with another format.",
    action: "Start the version that wrote it, or begin with an empty data directory.",
    retry: false,
  },
  StoreConflict: {
    meaning: "A key changed between reading and writing it.",
    action: "Read it again, apply the change to what is there now, and write again.",
    retry: true,
  },
  StoreCompacted: {
    meaning: "The asked revision is older than the history that is kept.",
    action: "List again and watch from the revision of that list.",
    retry: true,
  },
  StoreClosed: {
    meaning: "The store was used after it was closed.",
    action: "Start the cluster again.",
    retry: false,
  },
  StoreDiskFull: {
    meaning: "A write was refused because the disk is full.",
    action: "Free space on the disk of the data directory.",
    retry: true,
  },
  StoreWriteFailed: {
    meaning: "The disk did not take a write.",
    action: "Look at the cause and at the system's log; nothing of this write was kept.",
    retry: true,
  },
  ApiServerPortTaken: {
    meaning: "The API server's port is in use by another program.",
    action: "Stop that program, or choose another port.",
    retry: false,
  },
  ApiServerSchemaMissing: {
    meaning: "A built-in kind names a schema that is not in the generated table.",
    action: "Add the kind to the generator's roots and generate again.",
    retry: false,
  },
  KubeletConfigMissing: {
    meaning: "A container refers to a ConfigMap, Secret, key or field that does not exist.",
    action: "Create it, correct the reference, or mark the reference as optional.",
    retry: true,
  },
  KubeletVolumeRefused: {
    meaning: "A volume of a pod cannot be provided as it is written.",
    action: "Change the volume as the message says.",
    retry: true,
  },
  KubeletPodRefused: {
    meaning: "A pod asks for something that this kubelet does not offer.",
    action: "Remove or change the named field.",
    retry: false,
  },
  KubeletDevicesMissing: {
    meaning: "A pod was bound to a node that has not enough free devices for it.",
    action: "Delete the pod; a new one is scheduled where there are devices.",
    retry: false,
  },
  KubeletDevicePluginRefused: {
    meaning: "A device plug-in asked to register in a way that the kubelet does not take.",
    action: "Correct the plug-in as the message says.",
    retry: false,
  },
  KubeletPortTaken: {
    meaning: "The address and port of a node's kubelet are in use by another program.",
    action: "Stop that program, or start the cluster with another pod network.",
    retry: false,
  },
  ImageCatalogueInvalid: {
    meaning: "The image catalogue cannot be read.",
    action: "Correct the named file; it maps image references to commands.",
    retry: true,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
