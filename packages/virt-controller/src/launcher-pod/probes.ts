import type { Probe as GuestProbe, VirtualMachineInstance } from "@polyvirt/api";
import type { Container, Probe } from "@polyvirt/api/k8s";

/** A launcher needs this long before it can ask a guest anything. */
const LAUNCHER_START_SECONDS = 10;
/** The command in the pod takes longer than what it waits for in the guest. */
const COMMAND_MARGIN_SECONDS = 1;
const DEFAULT_TIMEOUT_SECONDS = 1;

/**
 * How the guest is asked whether it works. The kubelet reaches it at the pod's address; what happens inside of the guest
 * is asked by a command of the launcher's image.
 */
export function guestProbes(vmi: VirtualMachineInstance): Pick<Container, "livenessProbe" | "readinessProbe"> {
  const { livenessProbe, readinessProbe } = vmi.spec;
  return {
    ...(livenessProbe === undefined ? {} : { livenessProbe: podProbe(vmi, livenessProbe) }),
    ...(readinessProbe === undefined ? {} : { readinessProbe: podProbe(vmi, readinessProbe) }),
  };
}

function podProbe(vmi: VirtualMachineInstance, { exec, guestAgentPing, ...rest }: GuestProbe): Probe {
  const question = exec === undefined ? guestAgentPing && ["--guestAgentPing"] : inGuest(exec.command ?? []);
  // The schema allows the same values as Kubernetes', though its type is a plain text.
  if (question === undefined) return rest as Probe;
  const { namespace = "", name = "" } = vmi.metadata;
  const timeoutSeconds = rest.timeoutSeconds || DEFAULT_TIMEOUT_SECONDS;
  const command = ["virt-probe", "--domainName", `${namespace}_${name}`, "--timeoutSeconds", String(timeoutSeconds)];
  return {
    // As above.
    ...(rest as Probe),
    initialDelaySeconds: (rest.initialDelaySeconds ?? 0) + LAUNCHER_START_SECONDS,
    timeoutSeconds: timeoutSeconds + COMMAND_MARGIN_SECONDS,
    exec: { command: [...command, ...question] },
  };
}

function inGuest([command = "", ...args]: readonly string[]): string[] {
  return ["--command", command, "--", ...args];
}
