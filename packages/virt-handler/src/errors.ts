import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  HandlerLauncherAbsent: {
    meaning: "The launcher of a VMI has not opened its command socket yet.",
    action: "Wait; if it persists, look at the launcher pod's log.",
    retry: true,
  },
  HandlerLauncherGone: {
    meaning: "The launcher of a VMI does not run any more.",
    action: "Look at the launcher pod's log and its containers' exit codes.",
    retry: false,
  },
  HandlerLauncherRefused: {
    meaning: "The launcher could not do what it was asked.",
    action: "Read the launcher's own words in the message.",
    retry: true,
  },
  HandlerLauncherFailed: {
    meaning: "The launcher says that it can never do what it was asked for this VMI.",
    action: "Correct the VMI as the message says, and create it again.",
    retry: false,
  },
  HandlerLauncherIncompatible: {
    meaning: "Launcher and node agent have no version of their protocol in common.",
    action: "Use a launcher image of a version near that of virt-handler.",
    retry: false,
  },
  HandlerNetworkRefused: {
    meaning: "A VMI asks for something in its pod's network that cannot be.",
    action: "Correct the interface or the network that the message names, and create the VMI again.",
    retry: false,
  },
  HandlerNetworkFailed: {
    meaning: "The network of a launcher pod is not as every pod's network is.",
    action: "Look at the cluster's network plug-in: a pod needs an interface eth0 with an address.",
    retry: true,
  },
  HandlerHotplugFailed: {
    meaning: "A volume could not be given to the launcher of a running guest, or taken from it.",
    action: "Read the reason in the message; it is tried again.",
    retry: true,
  },
  HandlerEventRefused: {
    meaning: "A launcher sent an event about something that it does not own.",
    action: "Treat the launcher pod as compromised: look at what runs in it.",
    retry: false,
  },
  HandlerRecordUnreadable: {
    meaning: "A record of a launcher, kept over restarts of virt-handler, cannot be read.",
    action: "None: the record is dropped. Check the disk if it happens often.",
    retry: false,
  },
  HandlerListenFailed: {
    meaning: "A socket or port of virt-handler cannot be opened.",
    action: "Check that no other virt-handler runs on this node and that the address is this pod's.",
    retry: true,
  },
  HandlerCertificateUnreadable: {
    meaning: "The certificate of virt-handler's server cannot be read.",
    action: "Check the Secret that virt-operator made and that it is mounted.",
    retry: true,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
