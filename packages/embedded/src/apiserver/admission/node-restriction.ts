import type { UserInfo } from "../auth/user.ts";
import { forbidden } from "../http/status-error.ts";
import { textOf, valueAt } from "../json.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";

const nodeUser = "system:node:";
const leaseNamespace = "kube-node-lease";

/** The node that a user is the agent of; undefined for everyone else. */
function nodeOf(user: UserInfo): string | undefined {
  return user.groups.includes("system:nodes") && user.username.startsWith(nodeUser)
    ? user.username.slice(nodeUser.length)
    : undefined;
}

/** A node's agent writes its own Node, Lease and pods only: one taken over must not reach the others. */
export function nodeRestriction(objects: Objects, pods: Resource): Partial<Admission> {
  const checks: Readonly<Record<string, (request: AdmissionRequest, node: string) => string | undefined>> = {
    nodes: ({ name, object }, node) =>
      (object?.metadata.name ?? name) === node
        ? undefined
        : `node ${JSON.stringify(node)} is not allowed to modify node ${JSON.stringify(name)}`,
    pods: checkPod,
    "leases.coordination.k8s.io": ({ namespace, name, object }, node) =>
      namespace === leaseNamespace && (object?.metadata.name ?? name) === node
        ? undefined
        : `can only access node lease with the same name as the requesting node`,
  };
  return {
    async validate(request) {
      const node = nodeOf(request.context.user);
      if (node === undefined) return;
      const why = Object.hasOwn(checks, request.resource.bucket)
        ? checks[request.resource.bucket]?.(request, node)
        : undefined;
      if (why !== undefined) throw forbidden(request.resource, request.name, why);
    },
  };

  function checkPod({ operation, object, old, name }: AdmissionRequest, node: string): string | undefined {
    if (operation === "CREATE") {
      const isMirror = object?.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;
      return isMirror
        ? undefined
        : 'pod does not have "kubernetes.io/config.mirror" annotation, node can only create mirror pods';
    }
    const pod = old ?? objects.find(pods, object?.metadata.namespace ?? "", name);
    return textOf(valueAt(pod, "spec", "nodeName")) === node
      ? undefined
      : `node ${JSON.stringify(node)} can only change pods that are bound to it`;
  }
}

/** Whether a node's agent may have a token of this service account: only for a pod that it runs, bound to that pod. */
export function mayIssueToken(
  objects: Objects,
  pods: Resource,
  user: UserInfo,
  namespace: string,
  reference: unknown,
): boolean {
  const node = nodeOf(user);
  if (node === undefined) return true;
  if (valueAt(reference, "kind") !== "Pod") return false;
  const pod = objects.find(pods, namespace, textOf(valueAt(reference, "name")));
  return (
    pod !== undefined && pod.metadata.uid === valueAt(reference, "uid") && valueAt(pod, "spec", "nodeName") === node
  );
}
