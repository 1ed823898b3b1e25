import type { APIService, CustomResourceDefinition, DaemonSet, Deployment, KubeObject } from "@polyvirt/api/k8s";

/** Why an object does not do its work yet; undefined when it does. */
export function whyNotReady(object: KubeObject): string | undefined {
  return checks[object.kind ?? ""]?.(object);
}

// The kind tells which of our types an object is.
const checks: Readonly<Record<string, (object: KubeObject) => string | undefined>> = {
  Deployment: (object) => deploymentProblem(object as Deployment),
  DaemonSet: (object) => daemonSetProblem(object as DaemonSet),
  CustomResourceDefinition: (object) => definitionProblem(object as CustomResourceDefinition),
  APIService: (object) => apiServiceProblem(object as APIService),
};

function deploymentProblem({ metadata, spec, status = {} }: Deployment): string | undefined {
  const wanted = spec.replicas ?? 1;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return "its change is not seen yet";
  if ((status.updatedReplicas ?? 0) < wanted) return `${status.updatedReplicas ?? 0} of ${wanted} pods are updated`;
  if ((status.availableReplicas ?? 0) < wanted)
    return `${status.availableReplicas ?? 0} of ${wanted} pods are available`;
  return undefined;
}

function daemonSetProblem({ metadata, status }: DaemonSet): string | undefined {
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return "its change is not seen yet";
  const wanted = status?.desiredNumberScheduled ?? 0;
  const updated = status?.updatedNumberScheduled ?? 0;
  const available = status?.numberAvailable ?? 0;
  if (updated < wanted) return `${updated} of ${wanted} nodes are updated`;
  if (available < wanted) return `${available} of ${wanted} nodes are served`;
  return undefined;
}

function definitionProblem({ status }: CustomResourceDefinition): string | undefined {
  const established = status?.conditions?.find(({ type }) => type === "Established");
  if (established?.status === "True") return undefined;
  const names = status?.conditions?.find(({ type, status: value }) => type === "NamesAccepted" && value === "False");
  return names?.message ?? "it is not established yet";
}

function apiServiceProblem({ status }: APIService): string | undefined {
  const available = status?.conditions?.find(({ type }) => type === "Available");
  if (available?.status === "True") return undefined;
  return available?.message ?? "it is not available yet";
}
