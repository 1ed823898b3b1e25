import {
  compileMutatingPolicy,
  compileValidatingPolicy,
  type MutatingPolicy,
  type ValidatingPolicy,
} from "@polyvirt/cel";

import type { Store } from "../../store/store.ts";
import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import { readMatch, type RequestMatch } from "./request-match.ts";

interface PolicyRule<Compiled> {
  readonly name: string;
  readonly match: RequestMatch;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly compiled: Compiled;
}

export type ValidatingRule = PolicyRule<ValidatingPolicy>;
export type MutatingRule = PolicyRule<MutatingPolicy>;

/** Where and how a policy applies. */
export interface PolicyBinding {
  readonly name: string;
  readonly policy: string;
  readonly match: RequestMatch | undefined;
  readonly paramRef: JsonObject | undefined;
  readonly actions: readonly string[];
}

interface StoredPolicy {
  readonly metadata: { readonly name: string };
  readonly spec?: JsonObject;
}

/** Policies with their bindings, compiled once for each version that is in the store. */
export class BoundPolicyList<Rule extends { readonly name: string }> {
  readonly #store: Store;
  readonly #policies: string;
  readonly #bindings: string;
  readonly #compile: (policy: StoredPolicy) => Rule;
  /** By key; what has not changed since is not compiled again. */
  #rules: ReadonlyMap<string, { readonly revision: number; readonly rule: Rule }> = new Map();
  #bound: readonly { readonly rule: Rule; readonly binding: PolicyBinding }[] | undefined;

  constructor(
    store: Store,
    buckets: { readonly policies: string; readonly bindings: string },
    compile: (policy: StoredPolicy) => Rule,
  ) {
    this.#store = store;
    this.#policies = `${buckets.policies}/`;
    this.#bindings = `${buckets.bindings}/`;
    this.#compile = compile;
    store.subscribe((events) => {
      const concerns = events.some(({ key }) => key.startsWith(this.#policies) || key.startsWith(this.#bindings));
      if (concerns) this.#bound = undefined;
    });
  }

  all(): readonly { readonly rule: Rule; readonly binding: PolicyBinding }[] {
    this.#bound ??= this.#load();
    return this.#bound;
  }

  #load(): { rule: Rule; binding: PolicyBinding }[] {
    // Everything in the store went through validation as these kinds.
    const read = (value: Buffer) => JSON.parse(value.toString()) as StoredPolicy;
    const bindings = new Map<string, PolicyBinding[]>();
    for (const { value } of this.#store.range(this.#bindings).entries) {
      const binding = readBinding(read(value));
      bindings.set(binding.policy, [...(bindings.get(binding.policy) ?? []), binding]);
    }
    const rules = new Map<string, { revision: number; rule: Rule }>();
    const bound: { rule: Rule; binding: PolicyBinding }[] = [];
    for (const { key, value, revision } of this.#store.range(this.#policies).entries) {
      const policy = read(value);
      const own = bindings.get(policy.metadata.name);
      if (own === undefined) continue;
      const known = this.#rules.get(key);
      const rule = known?.revision === revision ? known.rule : this.#compile(policy);
      rules.set(key, { revision, rule });
      bound.push(...own.map((binding) => ({ rule, binding })));
    }
    this.#rules = rules;
    return bound;
  }
}

function readBinding({ metadata, spec }: StoredPolicy): PolicyBinding {
  const match = valueAt(spec, "matchResources");
  const paramRef = valueAt(spec, "paramRef");
  const actions = valueAt(spec, "validationActions");
  return {
    name: metadata.name,
    policy: textOf(valueAt(spec, "policyName")),
    match: isJsonObject(match) ? readMatch(match) : undefined,
    paramRef: isJsonObject(paramRef) ? paramRef : undefined,
    actions: Array.isArray(actions) ? actions.map(String) : [],
  };
}

export const validatingPolicies = (store: Store): BoundPolicyList<ValidatingRule> =>
  new BoundPolicyList(
    store,
    {
      policies: "validatingadmissionpolicies.admissionregistration.k8s.io",
      bindings: "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    },
    (policy) => readPolicy(policy, compileValidatingPolicy(policy.spec ?? {})),
  );

export const mutatingPolicies = (store: Store): BoundPolicyList<MutatingRule> =>
  new BoundPolicyList(
    store,
    {
      policies: "mutatingadmissionpolicies.admissionregistration.k8s.io",
      bindings: "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    },
    (policy) => readPolicy(policy, compileMutatingPolicy(policy.spec ?? {})),
  );

function readPolicy<Compiled>({ metadata, spec }: StoredPolicy, compiled: Compiled): PolicyRule<Compiled> {
  const constraints = valueAt(spec, "matchConstraints");
  const paramKind = valueAt(spec, "paramKind");
  return {
    name: metadata.name,
    match: readMatch(isJsonObject(constraints) ? constraints : {}),
    failurePolicy: valueAt(spec, "failurePolicy") === "Ignore" ? "Ignore" : "Fail",
    paramKind: isJsonObject(paramKind)
      ? { apiVersion: textOf(paramKind["apiVersion"]), kind: textOf(paramKind["kind"]) }
      : undefined,
    compiled,
  };
}
