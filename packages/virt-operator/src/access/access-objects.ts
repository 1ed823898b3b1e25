import type {
  ClusterRole,
  ClusterRoleBinding,
  KubeObject,
  ObjectMeta,
  RbacSubject,
  Role,
  RoleBinding,
  ServiceAccount,
} from "@polyvirt/api/k8s";
import { ownMetadata, type Installation } from "../installation.ts";
import { roleAccess } from "./operator-access.ts";
import type { RoleAccess } from "./rules.ts";
import { defaultRole, userRoles } from "./user-access.ts";

const rbac = "rbac.authorization.k8s.io";

interface AccessContext {
  readonly namespace: string;
  readonly metadata: (name: string, namespace?: string) => ObjectMeta;
}

/** The service account of a role with its rights. */
export function accountObjects(access: RoleAccess, context: AccessContext): KubeObject[] {
  const { serviceAccount: name } = access;
  const { namespace, metadata } = context;
  const clusterName = `kubevirt-${name.replace(/^virt-/, "")}`;
  const account: ServiceAccount = { apiVersion: "v1", kind: "ServiceAccount", metadata: metadata(name, namespace) };
  const subjects: RbacSubject[] = [{ kind: "ServiceAccount", name, namespace }];
  const clusterRole: ClusterRole = {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: metadata(clusterName),
    rules: [...access.cluster],
  };
  const clusterBinding: ClusterRoleBinding = {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: metadata(clusterName),
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: clusterName },
    subjects,
  };
  if (access.namespace.length === 0) return [account, clusterRole, clusterBinding];
  const role: Role = {
    apiVersion: `${rbac}/v1`,
    kind: "Role",
    metadata: metadata(clusterName, namespace),
    rules: [...access.namespace],
  };
  const binding: RoleBinding = {
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata: metadata(clusterName, namespace),
    roleRef: { apiGroup: rbac, kind: "Role", name: clusterName },
    subjects,
  };
  return [account, clusterRole, clusterBinding, role, binding];
}

/** Rights of every role, and the cluster roles for users. */
export function accessObjects(installation: Installation): KubeObject[] {
  const context: AccessContext = {
    namespace: installation.namespace,
    metadata: (name, namespace) => ownMetadata(installation, name, namespace),
  };
  return [...roleAccess.flatMap((access) => accountObjects(access, context)), ...userObjects(installation)];
}

function userObjects(installation: Installation): KubeObject[] {
  const roles: ClusterRole[] = userRoles.map(({ name, aggregateTo, rules }) => {
    const metadata = ownMetadata(installation, name);
    const aggregation = { [`rbac.authorization.k8s.io/aggregate-to-${aggregateTo}`]: "true" };
    return {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: installation.aggregateRoles
        ? { ...metadata, labels: { ...metadata.labels, ...aggregation } }
        : metadata,
      rules: [...rules],
    };
  });
  const everyone: ClusterRole = {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: ownMetadata(installation, defaultRole.name),
    rules: [...defaultRole.rules],
  };
  const binding: ClusterRoleBinding = {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: ownMetadata(installation, defaultRole.name),
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: defaultRole.name },
    subjects: [{ kind: "Group", apiGroup: rbac, name: "system:authenticated" }],
  };
  return [...roles, everyone, binding];
}
