import type { PolicyRule } from "./rbac.ts";

const read = ["get", "list", "watch"];
const write = ["create", "delete", "deletecollection", "patch", "update"];
const readWrite = [...read, ...write];

/** What people work with inside a namespace; view, edit and admin differ in verbs and in who sees secrets. */
const namespaceResources: readonly { groups: string[]; resources: string[] }[] = [
  { groups: [""], resources: ["configmaps", "persistentvolumeclaims", "pods", "services", "serviceaccounts"] },
  {
    groups: ["apps"],
    resources: [
      "controllerrevisions",
      "daemonsets",
      "deployments",
      "deployments/scale",
      "replicasets",
      "replicasets/scale",
    ],
  },
  { groups: ["policy"], resources: ["poddisruptionbudgets"] },
];
const namespaceStatus: readonly { groups: string[]; resources: string[] }[] = [
  {
    groups: [""],
    resources: [
      "events",
      "namespaces",
      "namespaces/status",
      "persistentvolumeclaims/status",
      "pods/log",
      "pods/status",
      "services/status",
    ],
  },
  { groups: ["apps"], resources: ["daemonsets/status", "deployments/status", "replicasets/status"] },
  { groups: ["policy"], resources: ["poddisruptionbudgets/status"] },
  { groups: ["discovery.k8s.io"], resources: ["endpointslices"] },
  { groups: ["events.k8s.io"], resources: ["events"] },
];

const rules = (table: readonly { groups: string[]; resources: string[] }[], verbs: string[]): PolicyRule[] =>
  table.map(({ groups, resources }) => ({ apiGroups: groups, resources, verbs }));

const view: PolicyRule[] = [...rules(namespaceResources, read), ...rules(namespaceStatus, read)];
const edit: PolicyRule[] = [
  ...rules(namespaceResources, write),
  { apiGroups: [""], resources: ["secrets"], verbs: readWrite },
  { apiGroups: [""], resources: ["pods/attach", "pods/exec", "pods/portforward", "services/proxy"], verbs: readWrite },
  { apiGroups: [""], resources: ["pods/eviction", "serviceaccounts/token"], verbs: ["create"] },
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] },
  { apiGroups: [""], resources: ["events"], verbs: write },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: readWrite },
];
const admin: PolicyRule[] = [
  { apiGroups: ["rbac.authorization.k8s.io"], resources: ["rolebindings", "roles"], verbs: readWrite },
  { apiGroups: ["authorization.k8s.io"], resources: ["localsubjectaccessreviews"], verbs: ["create"] },
];

/** What a kubelet does for its node. Which objects it may touch is narrowed further by the node restriction. */
const node: PolicyRule[] = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["create", "get", "list", "watch", "patch", "update"] },
  { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch", "update"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "create", "delete"] },
  { apiGroups: [""], resources: ["pods/status"], verbs: ["patch", "update"] },
  { apiGroups: [""], resources: ["pods/eviction", "serviceaccounts/token"], verbs: ["create"] },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  {
    apiGroups: [""],
    resources: [
      "services",
      "configmaps",
      "secrets",
      "persistentvolumeclaims",
      "persistentvolumes",
      "serviceaccounts",
      "namespaces",
    ],
    verbs: read,
  },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create", "get", "update", "patch", "delete"] },
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  {
    apiGroups: ["authorization.k8s.io"],
    resources: ["localsubjectaccessreviews", "subjectaccessreviews"],
    verbs: ["create"],
  },
];

const events: PolicyRule = {
  apiGroups: ["", "events.k8s.io"],
  resources: ["events"],
  verbs: ["create", "patch", "update"],
};

/** Looks at everything that placement depends on, and binds. */
const scheduler: PolicyRule[] = [
  { apiGroups: [""], resources: ["nodes", "namespaces", "persistentvolumes", "services"], verbs: read },
  { apiGroups: ["apps"], resources: ["replicasets"], verbs: read },
  { apiGroups: [""], resources: ["pods"], verbs: [...read, "delete"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: [...read, "patch", "update"] },
  { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: read },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: read },
  { apiGroups: [""], resources: ["pods/binding"], verbs: ["create"] },
  { apiGroups: [""], resources: ["pods/status"], verbs: ["patch", "update"] },
  events,
];

/** Deployments, replica sets and daemon sets make pods; services get endpoint slices; nodes that fall silent lose theirs. */
const controllerManager: PolicyRule[] = [
  {
    apiGroups: ["apps"],
    resources: ["deployments", "replicasets", "daemonsets"],
    verbs: [...read, "create", "update", "patch", "delete"],
  },
  {
    apiGroups: ["apps"],
    resources: ["deployments/status", "replicasets/status", "daemonsets/status"],
    verbs: ["patch", "update"],
  },
  { apiGroups: ["apps"], resources: ["controllerrevisions"], verbs: [...read, "create", "update", "patch", "delete"] },
  { apiGroups: [""], resources: ["pods"], verbs: [...read, "create", "update", "patch", "delete"] },
  { apiGroups: [""], resources: ["pods/status", "nodes/status"], verbs: ["patch", "update"] },
  { apiGroups: [""], resources: ["nodes"], verbs: [...read, "update", "patch"] },
  { apiGroups: [""], resources: ["services", "namespaces"], verbs: read },
  { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: [...read, "update", "patch"] },
  { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...read, "create", "update", "patch", "delete"] },
  {
    apiGroups: [""],
    resources: ["persistentvolumeclaims/status", "persistentvolumes/status"],
    verbs: ["patch", "update"],
  },
  { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: [...read, "create"] },
  {
    apiGroups: ["discovery.k8s.io"],
    resources: ["endpointslices"],
    verbs: [...read, "create", "update", "patch", "delete"],
  },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: read },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: read },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets/status"], verbs: ["patch", "update"] },
  events,
];

const discoveryPaths = [
  "/api",
  "/api/*",
  "/apis",
  "/apis/*",
  "/healthz",
  "/livez",
  "/openapi",
  "/openapi/*",
  "/readyz",
  "/version",
  "/version/",
];
const publicPaths = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

interface BootstrapRole {
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  /** Groups that hold the role in the whole cluster. */
  readonly groups?: readonly string[];
  readonly users?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** The role has no rules of its own: it consists of all roles with this label. */
  readonly aggregates?: string;
}

function aggregateTo(role: string): string {
  return `rbac.authorization.k8s.io/aggregate-to-${role}`;
}

/** The cluster roles that a new cluster starts with. */
export const bootstrapRoles: readonly BootstrapRole[] = [
  {
    name: "cluster-admin",
    rules: [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["*"] },
    ],
    groups: ["system:masters"],
  },
  { name: "admin", rules: [], aggregates: aggregateTo("admin") },
  { name: "edit", rules: [], aggregates: aggregateTo("edit"), labels: { [aggregateTo("admin")]: "true" } },
  { name: "view", rules: [], aggregates: aggregateTo("view"), labels: { [aggregateTo("edit")]: "true" } },
  { name: "system:aggregate-to-admin", rules: admin, labels: { [aggregateTo("admin")]: "true" } },
  { name: "system:aggregate-to-edit", rules: edit, labels: { [aggregateTo("edit")]: "true" } },
  { name: "system:aggregate-to-view", rules: view, labels: { [aggregateTo("view")]: "true" } },
  {
    name: "system:discovery",
    rules: [{ nonResourceURLs: discoveryPaths, verbs: ["get"] }],
    groups: ["system:authenticated"],
  },
  {
    name: "system:public-info-viewer",
    rules: [{ nonResourceURLs: publicPaths, verbs: ["get"] }],
    groups: ["system:authenticated", "system:unauthenticated"],
  },
  {
    name: "system:basic-user",
    rules: [
      {
        apiGroups: ["authorization.k8s.io"],
        resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        verbs: ["create"],
      },
      { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
    ],
    groups: ["system:authenticated"],
  },
  {
    name: "system:auth-delegator",
    rules: [
      { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
      { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
    ],
  },
  { name: "system:node", rules: node, groups: ["system:nodes"] },
  { name: "system:kube-scheduler", rules: scheduler, users: ["system:kube-scheduler"] },
  { name: "system:kube-controller-manager", rules: controllerManager, users: ["system:kube-controller-manager"] },
];
