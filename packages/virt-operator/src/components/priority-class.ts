import type { PriorityClass } from "@polyvirt/api/k8s";
import { ownMetadata, type Installation } from "../installation.ts";

export const priorityClassName = "kubevirt-cluster-critical";

/** Our roles go before guests: a guest without its node agent cannot be managed. */
export function priorityClass(installation: Installation): PriorityClass {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: ownMetadata(installation, priorityClassName),
    value: 1_000_000_000,
    globalDefault: false,
    description: "For the roles that manage virtual machines; not for workloads.",
  };
}
