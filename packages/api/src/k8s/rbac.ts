import type { KubeObject, LabelSelector, ResourceType } from "./meta.ts";

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface Role extends KubeObject {
  rules?: PolicyRule[];
}

export interface ClusterRole extends KubeObject {
  rules?: PolicyRule[];
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}

export interface RbacSubject {
  kind: "User" | "Group" | "ServiceAccount";
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface RoleRef {
  apiGroup: string;
  kind: "Role" | "ClusterRole";
  name: string;
}

export interface RoleBinding extends KubeObject {
  subjects?: RbacSubject[];
  roleRef: RoleRef;
}

export interface ClusterRoleBinding extends KubeObject {
  subjects?: RbacSubject[];
  roleRef: RoleRef;
}

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

export const roles: ResourceType<Role> = { ...rbac, kind: "Role", plural: "roles", namespaced: true };
export const clusterRoles: ResourceType<ClusterRole> = {
  ...rbac,
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};
export const roleBindings: ResourceType<RoleBinding> = {
  ...rbac,
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};
export const clusterRoleBindings: ResourceType<ClusterRoleBinding> = {
  ...rbac,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};
