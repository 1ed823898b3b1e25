import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  CliUsage: {
    meaning: "The command line cannot be understood.",
    action: "Read the usage that is printed with it; `polyvirt help` lists all commands.",
    retry: false,
  },
  CliProgramMissing: {
    meaning: "A program that the command needs cannot be started.",
    action: "Install the package that contains it; `./polyvirt` does so by itself when it runs as root.",
    retry: false,
  },
  CliProgramFailed: {
    meaning: "A program that the command runs ended with an error.",
    action: "The message has the program's own words; mend what they name and run the command again.",
    retry: false,
  },
  CliClusterNotRunning: {
    meaning: "The command needs a running cluster and there is none in this data directory.",
    action: "Start it with `polyvirt up`, or name the right directory with --data-dir.",
    retry: false,
  },
  CliClusterRunning: {
    meaning: "An option that counts only when the cluster starts was given while it runs.",
    action: "Run `polyvirt down`, then `polyvirt up` with the option again.",
    retry: false,
  },
  CliClusterStartFailed: {
    meaning: "The cluster process ended, or did not answer, while it was starting.",
    action: "Read the end of its log, which the message quotes; `polyvirt logs` shows all of it.",
    retry: true,
  },
  CliPortTaken: {
    meaning: "Another program listens on the port that the API server wants.",
    action: "Stop that program, or choose another port with --port.",
    retry: false,
  },
  CliStateTooNew: {
    meaning: "The data directory was written by a newer version of Polyvirt.",
    action: "Use that version, or start afresh with another --data-dir or `polyvirt reset`.",
    retry: false,
  },
  CliRolloutFailed: {
    meaning: "The roles did not become ready in time.",
    action: "`polyvirt kubectl get pods,events -n kubevirt` tells which and why.",
    retry: true,
  },
  CliGuestFailed: {
    meaning: "The demo guest did not start, or did not say hello in time.",
    action: "`polyvirt kubectl describe vmi hello` tells how far it came.",
    retry: true,
  },
  CliConsoleFailed: {
    meaning: "The guest's console cannot be reached.",
    action: "Check that the VirtualMachineInstance exists and is Running.",
    retry: true,
  },
  CliGuestRequestFailed: {
    meaning: "A running guest could not be asked or told something.",
    action: "Check that the VirtualMachineInstance is Running; most of it needs an agent in the guest.",
    retry: true,
  },
  CliEnvironmentMissing: {
    meaning: "A role was started without an environment variable that its pod template sets.",
    action: "Start it through virt-operator's Deployment, or set the variable that the message names.",
    retry: false,
  },
  DemoGuestModuleMissing: {
    meaning: "Debian's kernel package lacks a driver that the demo guest needs.",
    action: "Report it, with the version of the kernel package.",
    retry: false,
  },
  DemoGuestPackageMissing: {
    meaning: "apt does not know a package that the demo guest is made of.",
    action: "Run `apt-get update` and try again.",
    retry: true,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
