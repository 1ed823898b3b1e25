import { defineErrors, type ErrorKind } from "@polyvirt/core";

/** The closed set of errors that a stack may throw. The launcher decides by them what to tell the node agent. */
export const errorKinds = {
  StackNotSupported: {
    meaning: "The virtualization stack of this launcher does not offer the operation.",
    action: "Use a launcher image whose stack offers it, or do without the feature.",
    retry: false,
  },
  StackDefinitionRefused: {
    meaning: "The machine definition asks for something that the stack cannot express.",
    action: "Change the field that the message names by its path, or use another stack.",
    retry: false,
  },
  StackStartFailed: {
    meaning: "The virtual machine monitor did not bring the machine up.",
    action: "Read what the monitor wrote, which the message quotes; usually a file, a device or memory is missing.",
    retry: false,
  },
  StackDomainNotFound: {
    meaning: "There is no machine to act on: it was never started, or it has ended.",
    action: "Start the machine first.",
    retry: false,
  },
  StackDomainExists: {
    meaning: "The launcher runs another machine already; one launcher runs one machine.",
    action: "End that machine first, or use another launcher.",
    retry: false,
  },
  StackTimeout: {
    meaning: "The virtual machine monitor or the guest did not answer within the time limit.",
    action: "Look at the load of the node and at the guest's console; the operation may be repeated.",
    retry: true,
  },
  StackVmmGone: {
    meaning: "The virtual machine monitor ended while it was asked something.",
    action: "The machine is gone; the event of its end says why.",
    retry: false,
  },
  StackDaemonLost: {
    meaning: "A daemon between the launcher and the virtual machine monitor ended while it was asked something.",
    action:
      "Nothing to do: the launcher starts it again, and the machine runs on meanwhile. The operation may be repeated.",
    retry: true,
  },
  StackCommandFailed: {
    meaning: "The virtual machine monitor refused a command.",
    action: "Read its own words in the message; the state of the machine may not allow the command.",
    retry: false,
  },
  StackGuestAgentUnavailable: {
    meaning: "No guest agent answers in the guest.",
    action: "Install and start the guest agent in the guest; it may also still be starting.",
    retry: true,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
