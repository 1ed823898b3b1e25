import { StatusError } from "./http/status-error.ts";
import { bootstrapRoles } from "./auth/bootstrap-policy.ts";
import type { ApiObject } from "./kinds/kind.ts";
import type { Pki } from "./pki.ts";
import type { Objects } from "./registry/objects.ts";
import { systemContext } from "./registry/request-context.ts";
import type { Resource } from "./registry/resource.ts";
import type { ResourceRegistry } from "./registry/resource-registry.ts";

const rbac = "rbac.authorization.k8s.io";
const context = systemContext("kube-apiserver");
const marks = {
  labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
};

/** Creates what every cluster has from its first moment: namespaces and roles. What is there already stays. */
export async function bootstrap(objects: Objects, registry: ResourceRegistry, pki: Pki): Promise<void> {
  const resource = (group: string, plural: string): Resource => {
    const found = registry.find(group, "v1", plural);
    if (found === undefined) throw new Error(`bootstrap: no built-in resource ${plural}`);
    return found;
  };
  const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];
  await Promise.all(namespaces.map((name) => ensure(objects, resource("", "namespaces"), "", { metadata: { name } })));
  await Promise.all([
    ...bootstrapRoles.map((role) => ensureLatest(objects, resource(rbac, "clusterroles"), roleObject(role))),
    ...systemPriorities.map(([name, value]) =>
      ensure(objects, resource("scheduling.k8s.io", "priorityclasses"), "", { metadata: { name }, value }),
    ),
    ...bootstrapRoles
      .filter(({ groups = [], users = [] }) => groups.length + users.length > 0)
      .map(({ name, groups = [], users = [] }) =>
        ensure(objects, resource(rbac, "clusterrolebindings"), "", {
          metadata: { name, ...marks },
          roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
          subjects: [
            ...groups.map((group) => ({ apiGroup: rbac, kind: "Group", name: group })),
            ...users.map((user) => ({ apiGroup: rbac, kind: "User", name: user })),
          ],
        }),
      ),
    ensure(objects, resource("", "configmaps"), "kube-system", {
      metadata: { name: authenticationName },
      data: authenticationData(pki),
    }),
    ensure(objects, resource(rbac, "roles"), "kube-system", {
      metadata: { name: `${authenticationName}-reader`, ...marks },
      rules: [
        {
          apiGroups: [""],
          resources: ["configmaps"],
          resourceNames: [authenticationName],
          verbs: ["get", "list", "watch"],
        },
      ],
    }),
  ]);
}

const systemPriorities = [
  ["system-node-critical", 2_000_001_000],
  ["system-cluster-critical", 2_000_000_000],
] as const;

function roleObject({ name, rules, labels, aggregates }: (typeof bootstrapRoles)[number]): ApiObject {
  const metadata = { name, ...marks, labels: { ...marks.labels, ...labels } };
  if (aggregates === undefined) return { metadata, rules };
  return {
    metadata,
    rules: [],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregates]: "true" } }] },
  };
}

const authenticationName = "extension-apiserver-authentication";

/** Tells aggregated API servers whose word about a user's name they may take. */
function authenticationData(pki: Pki): Record<string, string> {
  return {
    "client-ca-file": pki.authority.certificate,
    "requestheader-client-ca-file": pki.frontProxyAuthority.certificate,
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
  };
}

/** Creates the object unless one of that name exists. */
export async function ensure(
  objects: Objects,
  resource: Resource,
  namespace: string,
  object: ApiObject,
): Promise<void> {
  if (objects.find(resource, namespace, object.metadata.name ?? "") !== undefined) return;
  try {
    await objects.create(context, resource, namespace, object);
  } catch (error) {
    if (!(error instanceof StatusError && error.status.reason === "AlreadyExists")) throw error;
  }
}

/** Roles of the server follow its version, unless somebody took them out of its hands by the annotation. */
async function ensureLatest(objects: Objects, resource: Resource, object: ApiObject): Promise<void> {
  const name = object.metadata.name ?? "";
  const found = objects.find(resource, "", name);
  if (found === undefined) return ensure(objects, resource, "", object);
  if (found.metadata.annotations?.["rbac.authorization.kubernetes.io/autoupdate"] !== "true") return;
  await objects.update(context, {
    resource,
    namespace: "",
    name,
    subresource: "",
    change: (current) => ({
      ...current,
      metadata: { ...current.metadata, labels: { ...current.metadata.labels, ...object.metadata.labels } },
      // Rules of an aggregated role are the aggregator's.
      ...(object["aggregationRule"] === undefined
        ? { rules: object["rules"] }
        : { aggregationRule: object["aggregationRule"] }),
    }),
  });
}
