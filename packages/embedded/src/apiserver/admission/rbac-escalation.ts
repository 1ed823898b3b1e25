import type { Authorizer, PolicyRule } from "../auth/rbac.ts";
import { mastersGroup, type UserInfo } from "../auth/user.ts";
import { forbidden } from "../http/status-error.ts";
import { deepEqual, isJsonObject, textOf, valueAt } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";

const group = "rbac.authorization.k8s.io";

interface EscalationDeps {
  readonly objects: Objects;
  readonly authorizer: Authorizer;
  readonly roles: Resource;
  readonly clusterRoles: Resource;
}

/** Nobody gives away more than they have: rules in roles, and roles in bindings, must be within the writer's own rights. */
export function rbacEscalation(deps: EscalationDeps): Partial<Admission> {
  return {
    async validate(request) {
      const { resource, operation, context, object } = request;
      if (resource.group !== group || operation === "DELETE" || object === undefined) return;
      if (context.user.groups.includes(mastersGroup)) return;
      if (resource.plural === "roles" || resource.plural === "clusterroles") checkRole(deps, request, object);
      else checkBinding(deps, request, object);
    },
  };
}

function checkRole(deps: EscalationDeps, request: AdmissionRequest, object: ApiObject): void {
  const { resource, old, namespace, context } = request;
  if (
    old !== undefined &&
    deepEqual(object["rules"], old["rules"]) &&
    deepEqual(object["aggregationRule"], old["aggregationRule"])
  )
    return;
  const name = object.metadata.name ?? "";
  const question = { user: context.user, verb: "escalate", group, resource: resource.plural, namespace, name };
  if (deps.authorizer.authorize(question).allowed) return;
  const rules = isJsonObject(object["aggregationRule"])
    ? [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]
    : rulesOf(object);
  refuseMissing(deps, request, name, namespace, rules);
}

function checkBinding(deps: EscalationDeps, request: AdmissionRequest, object: ApiObject): void {
  const { old, namespace, context } = request;
  if (old !== undefined && deepEqual(object["subjects"], old["subjects"])) return;
  const kind = valueAt(object, "roleRef", "kind");
  const name = textOf(valueAt(object, "roleRef", "name"));
  const resource = kind === "ClusterRole" ? deps.clusterRoles : deps.roles;
  if (
    deps.authorizer.authorize({ user: context.user, verb: "bind", group, resource: resource.plural, namespace, name })
      .allowed
  )
    return;
  const role = deps.objects.find(resource, kind === "ClusterRole" ? "" : namespace, name);
  refuseMissing(deps, request, object.metadata.name ?? "", namespace, role === undefined ? [] : rulesOf(role));
}

/** Rules in the store follow the schema. */
const rulesOf = (role: ApiObject): PolicyRule[] => objectsIn(role["rules"]).map((rule) => ({ verbs: [], ...rule }));

function refuseMissing(
  deps: EscalationDeps,
  { resource, context }: AdmissionRequest,
  name: string,
  namespace: string,
  rules: readonly PolicyRule[],
): void {
  const missing = rules.filter((rule) => !covers(deps.authorizer, context.user, namespace, rule));
  if (missing.length === 0) return;
  const list = missing.map((rule) => `{${describe(rule)}}`).join("\n");
  throw forbidden(
    resource,
    name,
    `user ${JSON.stringify(context.user.username)} (groups=${JSON.stringify(context.user.groups)}) is attempting to grant RBAC permissions not currently held:\n${list}`,
  );
}

/** Whether the user may do everything that a rule allows. A star must be held as a star. */
function covers(authorizer: Authorizer, user: UserInfo, namespace: string, rule: PolicyRule): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const held = authorizer.rulesFor(user, namespace);
  const within = (owned: readonly string[] | undefined, value: string): boolean =>
    owned !== undefined && (owned.includes("*") || owned.includes(value));
  const resourceWithin = (owned: readonly string[] | undefined, value: string): boolean =>
    within(owned, value) || (value.includes("/") && owned?.includes(`*/${value.split("/")[1]}`) === true);
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  const resourcesHeld = verbs.every((verb) =>
    apiGroups.every((apiGroup) =>
      resources.every((resource) =>
        names.every((name) =>
          held.some(
            (own) =>
              within(own.verbs, verb) &&
              within(own.apiGroups, apiGroup) &&
              resourceWithin(own.resources, resource) &&
              ((own.resourceNames ?? []).length === 0 ||
                (name !== undefined && own.resourceNames?.includes(name) === true)),
          ),
        ),
      ),
    ),
  );
  const urlsHeld = verbs.every((verb) =>
    nonResourceURLs.every((url) =>
      held.some((own) => within(own.verbs, verb) && urlWithin(own.nonResourceURLs ?? [], url)),
    ),
  );
  return resourcesHeld && urlsHeld;
}

const urlWithin = (owned: readonly string[], url: string): boolean =>
  owned.some(
    (pattern) => pattern === "*" || pattern === url || (pattern.endsWith("*") && url.startsWith(pattern.slice(0, -1))),
  );

function describe({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  const parts = {
    APIGroups: apiGroups,
    Resources: resources,
    ResourceNames: resourceNames,
    NonResourceURLs: nonResourceURLs,
    Verbs: verbs,
  };
  return Object.entries(parts)
    .filter(([, list]) => list !== undefined)
    .map(([name, list]) => `${name}:${JSON.stringify(list)}`)
    .join(", ");
}
