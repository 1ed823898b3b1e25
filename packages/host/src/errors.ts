import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  HostPathUnsafe: {
    meaning: "A path below a directory that others can write to holds a symlink, a `..` or a file of the wrong kind.",
    action: "Remove the named entry; nothing was read or changed through it.",
    retry: false,
  },
  HostPathMissing: {
    meaning: "A file or directory that should be there is not.",
    action: "Create it, or correct the path.",
    retry: true,
  },
  HostCallFailed: {
    meaning: "The operating system refused a call.",
    action: "Look at the errno in the message; rights and limits of the process are the usual reasons.",
    retry: true,
  },
  HostProcessGone: {
    meaning: "The process to act on has ended.",
    action: "Look at why it ended; a restarted one is another process.",
    retry: true,
  },
  HostNetworkShared: {
    meaning: "A process shares the machine's network, which is not ours to change.",
    action: "Nothing: guests in such a pod get a user-mode network.",
    retry: false,
  },
  HostUnsupported: {
    meaning: "This machine lacks something that the operation needs.",
    action: "Install the named program, or run on a machine (or with rights) that has it.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
