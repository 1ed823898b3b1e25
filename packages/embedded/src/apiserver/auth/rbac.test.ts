import { expect, it } from "vitest";

import type { Store } from "../../store/store.ts";
import { RbacAuthorizer, type AccessRequest } from "./rbac.ts";

const group = "rbac.authorization.k8s.io";
const objects: Record<string, object> = {
  [`clusterroles.${group}//reader`]: {
    metadata: { name: "reader" },
    rules: [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "pods/log"] }],
  },
  [`clusterroles.${group}//health`]: {
    metadata: { name: "health" },
    rules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/apis/*"] }],
  },
  [`roles.${group}/a/one`]: {
    metadata: { name: "one", namespace: "a" },
    rules: [{ verbs: ["*"], apiGroups: ["apps"], resources: ["*"], resourceNames: ["web"] }],
  },
  [`roles.${group}/a/scale`]: {
    metadata: { name: "scale", namespace: "a" },
    rules: [{ verbs: ["update"], apiGroups: ["*"], resources: ["*/scale"] }],
  },
  [`clusterrolebindings.${group}//everywhere`]: {
    metadata: { name: "everywhere" },
    roleRef: { kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "Group", name: "readers" }],
  },
  [`clusterrolebindings.${group}//health`]: {
    metadata: { name: "health" },
    roleRef: { kind: "ClusterRole", name: "health" },
    subjects: [{ kind: "Group", name: "all" }],
  },
  [`rolebindings.${group}/a/here`]: {
    metadata: { name: "here", namespace: "a" },
    roleRef: { kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "User", name: "bob" }],
  },
  [`rolebindings.${group}/a/one`]: {
    metadata: { name: "one", namespace: "a" },
    roleRef: { kind: "Role", name: "one" },
    subjects: [{ kind: "ServiceAccount", name: "bot" }],
  },
  [`rolebindings.${group}/a/scale`]: {
    metadata: { name: "scale", namespace: "a" },
    roleRef: { kind: "Role", name: "scale" },
    subjects: [{ kind: "User", name: "bob" }],
  },
};
// The authorizer reads ranges and subscribes; nothing else of a store.
const store = {
  range: (prefix: string) => ({
    entries: Object.entries(objects)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => ({ key, value: Buffer.from(JSON.stringify(value)) })),
  }),
  subscribe() {},
} as unknown as Store;
const authorizer = new RbacAuthorizer(store);
const bob = { username: "bob", groups: ["all"] };
const reader = { username: "ann", groups: ["readers"] };
const bot = { username: "system:serviceaccount:a:bot", groups: [] };

it.each<[string, AccessRequest, boolean]>([
  ["a cluster binding holds in every namespace", { user: reader, verb: "get", resource: "pods", namespace: "z" }, true],
  ["and at the cluster scope", { user: reader, verb: "list", resource: "pods" }, true],
  ["but only for its verbs", { user: reader, verb: "delete", resource: "pods", namespace: "z" }, false],
  ["a subresource is named on its own", { user: reader, verb: "get", resource: "pods", subresource: "log" }, true],
  ["and not implied", { user: reader, verb: "get", resource: "pods", subresource: "exec" }, false],
  ["a role binding holds in its namespace", { user: bob, verb: "get", resource: "pods", namespace: "a" }, true],
  ["and in no other", { user: bob, verb: "get", resource: "pods", namespace: "b" }, false],
  ["and not for the whole cluster", { user: bob, verb: "list", resource: "pods" }, false],
  [
    "names narrow a rule",
    { user: bot, verb: "delete", group: "apps", resource: "deployments", namespace: "a", name: "web" },
    true,
  ],
  [
    "to those names",
    { user: bot, verb: "delete", group: "apps", resource: "deployments", namespace: "a", name: "db" },
    false,
  ],
  [
    "any resource's scale",
    { user: bob, verb: "update", group: "apps", resource: "deployments", subresource: "scale", namespace: "a" },
    true,
  ],
  ["is not the resource", { user: bob, verb: "update", group: "apps", resource: "deployments", namespace: "a" }, false],
  ["paths match exactly", { user: bob, verb: "get", path: "/healthz" }, true],
  ["or below a star", { user: bob, verb: "get", path: "/apis/x/y" }, true],
  ["and not otherwise", { user: bob, verb: "get", path: "/metrics" }, false],
  [
    "masters may do everything",
    { user: { username: "x", groups: ["system:masters"] }, verb: "delete", resource: "nodes" },
    true,
  ],
])("%s", (_what, request, allowed) => {
  expect(authorizer.authorize(request).allowed).toBe(allowed);
});
