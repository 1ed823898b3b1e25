import type { Probe as GuestProbe, VirtualMachineInstance } from "@polyvirt/api";
import type { Container, Probe } from "@polyvirt/api/k8s";

/** How the guest is asked whether it works: the kubelet reaches it at the pod's address. */
export function guestProbes({ spec }: VirtualMachineInstance): Pick<Container, "livenessProbe" | "readinessProbe"> {
  return {
    ...(spec.livenessProbe === undefined ? {} : { livenessProbe: podProbe(spec.livenessProbe) }),
    ...(spec.readinessProbe === undefined ? {} : { readinessProbe: podProbe(spec.readinessProbe) }),
  };
}

/** Probes inside the guest (commands, the agent) are refused by admission; the others mean the same in a pod. */
function podProbe({ exec: _exec, guestAgentPing: _ping, ...rest }: GuestProbe): Probe {
  // The schema allows the same values as Kubernetes', though its type is a plain text.
  return rest as Probe;
}
