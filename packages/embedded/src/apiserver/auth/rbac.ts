import type { Store } from "../../store/store.ts";
import { mastersGroup, type UserInfo } from "./user.ts";

/** What is asked: may this user do this? */
export interface AccessRequest {
  readonly user: UserInfo;
  readonly verb: string;
  readonly namespace?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  /** Set for paths that are no resources, such as /healthz. */
  readonly path?: string;
}

export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

export interface Authorizer {
  authorize(request: AccessRequest): AccessDecision;
  /** All rules that hold for a user in a namespace. */
  rulesFor(user: UserInfo, namespace: string): PolicyRule[];
}

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Binding {
  readonly name: string;
  readonly namespace: string;
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly Subject[];
}

const rbacGroup = "rbac.authorization.k8s.io";

/** Kubernetes' role-based access control, over a copy of roles and bindings that follows the store. */
export class RbacAuthorizer implements Authorizer {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();

  constructor(store: Store) {
    for (const plural of ["roles", "clusterroles", "rolebindings", "clusterrolebindings"]) {
      for (const { key, value } of store.range(`${plural}.${rbacGroup}/`).entries) this.#put(key, value);
    }
    store.subscribe((events) => {
      for (const { key, value } of events) {
        if (!key.includes(`.${rbacGroup}/`)) continue;
        if (value === undefined) {
          this.#roles.delete(key);
          this.#bindings.delete(key);
        } else {
          this.#put(key, value);
        }
      }
    });
  }

  #put(key: string, value: Buffer): void {
    // Objects in the store went through validation as these kinds.
    const object = JSON.parse(value.toString()) as {
      metadata: { name: string; namespace?: string };
      rules?: PolicyRule[];
      roleRef?: Binding["roleRef"];
      subjects?: Subject[];
    };
    if (object.roleRef === undefined) {
      this.#roles.set(key, object.rules ?? []);
      return;
    }
    const { name, namespace = "" } = object.metadata;
    this.#bindings.set(key, { name, namespace, roleRef: object.roleRef, subjects: object.subjects ?? [] });
  }

  authorize(request: AccessRequest): AccessDecision {
    if (request.user.groups.includes(mastersGroup)) return { allowed: true, reason: "" };
    for (const { binding, subject } of this.#bindingsOf(request.user, request.namespace ?? "")) {
      const rules = this.#rulesOf(binding);
      if (rules.some((rule) => ruleAllows(rule, request))) {
        const kind = binding.namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
        const place = binding.namespace === "" ? "" : `/${binding.namespace}`;
        const reason = `RBAC: allowed by ${kind} ${JSON.stringify(`${binding.name}${place}`)} of ${binding.roleRef.kind} ${JSON.stringify(binding.roleRef.name)} to ${describeSubject(subject)}`;
        return { allowed: true, reason };
      }
    }
    return { allowed: false, reason: "" };
  }

  rulesFor(user: UserInfo, namespace: string): PolicyRule[] {
    if (user.groups.includes(mastersGroup)) {
      return [
        { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
        { verbs: ["*"], nonResourceURLs: ["*"] },
      ];
    }
    return [...this.#bindingsOf(user, namespace)].flatMap(({ binding }) => this.#rulesOf(binding));
  }

  *#bindingsOf(user: UserInfo, namespace: string): Generator<{ binding: Binding; subject: Subject }> {
    for (const binding of this.#bindings.values()) {
      if (binding.namespace !== "" && binding.namespace !== namespace) continue;
      const subject = binding.subjects.find((item) => isSubject(item, user, binding.namespace));
      if (subject !== undefined) yield { binding, subject };
    }
  }

  #rulesOf({ roleRef, namespace }: Binding): readonly PolicyRule[] {
    const key =
      roleRef.kind === "ClusterRole"
        ? `clusterroles.${rbacGroup}//${roleRef.name}`
        : `roles.${rbacGroup}/${namespace}/${roleRef.name}`;
    return this.#roles.get(key) ?? [];
  }
}

function describeSubject({ kind, name, namespace }: Subject): string {
  return `${kind} ${JSON.stringify(kind === "ServiceAccount" ? `${name}/${namespace ?? ""}` : name)}`;
}

function isSubject(subject: Subject, user: UserInfo, bindingNamespace: string): boolean {
  switch (subject.kind) {
    case "User":
      return subject.name === user.username;
    case "Group":
      return user.groups.includes(subject.name);
    case "ServiceAccount":
      return user.username === `system:serviceaccount:${subject.namespace ?? bindingNamespace}:${subject.name}`;
    default:
      return false;
  }
}

const includes = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes("*") || list.includes(value));

function ruleAllows(rule: PolicyRule, request: AccessRequest): boolean {
  if (!includes(rule.verbs, request.verb)) return false;
  if (request.path !== undefined) return pathMatches(rule.nonResourceURLs ?? [], request.path);
  return (
    includes(rule.apiGroups, request.group ?? "") &&
    resourceMatches(rule.resources ?? [], request.resource ?? "", request.subresource ?? "") &&
    ((rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(request.name ?? ""))
  );
}

function resourceMatches(patterns: readonly string[], resource: string, subresource: string): boolean {
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  return patterns.some(
    (pattern) => pattern === "*" || pattern === full || (subresource !== "" && pattern === `*/${subresource}`),
  );
}

function pathMatches(patterns: readonly string[], path: string): boolean {
  return patterns.some(
    (pattern) =>
      pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1))),
  );
}
