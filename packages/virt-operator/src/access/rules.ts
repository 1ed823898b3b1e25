import type { PolicyRule } from "@polyvirt/api/k8s";

export const read = ["get", "list", "watch"];

export function rule(apiGroup: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources: [...resources], verbs: [...verbs] };
}

/** What one service account may do: in the whole cluster, and in the namespace of the installation. */
export interface RoleAccess {
  readonly serviceAccount: string;
  readonly cluster: readonly PolicyRule[];
  readonly namespace: readonly PolicyRule[];
}

/** Leader election: the name of the lease is the role's own. */
export function leaseRules(name: string): PolicyRule[] {
  return [
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
    {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      resourceNames: [name],
      verbs: ["get", "update", "patch"],
    },
  ];
}
