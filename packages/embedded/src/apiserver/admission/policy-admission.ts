import { applyBinding, type PolicyEffect, type PolicyInput, type ValidationAction } from "@polyvirt/cel";

import type { Authorizer } from "../auth/rbac.ts";
import { forbidden, type StatusError } from "../http/status-error.ts";
import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { rootSchema } from "../managed-fields/root-schema.ts";
import { matchesSelector } from "../registry/label-selector.ts";
import type { Resource } from "../registry/resource.ts";
import { expandedSchema } from "../schema/expanded-schema.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";
import { policyInput } from "./policy-input.ts";
import type { BoundPolicyList, MutatingRule, PolicyBinding, ValidatingRule } from "./policy-list.ts";
import { matchedResource, type MatchDeps } from "./request-match.ts";

interface PolicyDeps extends MatchDeps {
  readonly validating: BoundPolicyList<ValidatingRule>;
  readonly mutating: BoundPolicyList<MutatingRule>;
  readonly authorizer: Authorizer;
}

/** Applies ValidatingAdmissionPolicies and MutatingAdmissionPolicies, each under its bindings. */
export function policyAdmission(deps: PolicyDeps): Admission {
  return {
    async mutate(request) {
      let object = request.object as ApiObject;
      const ran: { rule: MutatingRule; binding: PolicyBinding; saw: ApiObject }[] = [];
      for (const { rule, binding } of deps.mutating.all()) {
        object = mutateOnce(deps, rule, binding, { ...request, object });
        ran.push({ rule, binding, saw: object });
      }
      for (const { rule, binding, saw } of ran) {
        if (rule.compiled.reinvocable && saw !== object)
          object = mutateOnce(deps, rule, binding, { ...request, object });
      }
      return object;
    },
    async validate(request) {
      // All are asked, so that all can warn; the first to deny has its say.
      const denials = deps.validating.all().flatMap(({ rule, binding }) => validateOnce(deps, rule, binding, request));
      const [first] = denials;
      if (first !== undefined) throw refusal(request, first);
    },
  };
}

function matches(
  deps: PolicyDeps,
  rule: ValidatingRule | MutatingRule,
  binding: PolicyBinding,
  request: AdmissionRequest,
): Resource | undefined {
  const resource = matchedResource(deps, rule.match, request);
  if (resource === undefined || binding.match === undefined) return resource;
  // A binding without rules of its own narrows by its selectors alone.
  const narrowed = binding.match.rules.length === 0 ? { ...binding.match, rules: rule.match.rules } : binding.match;
  return matchedResource(deps, narrowed, request) === undefined ? undefined : resource;
}

type Denial = NonNullable<PolicyEffect["denial"]>;

function validateOnce(
  deps: PolicyDeps,
  rule: ValidatingRule,
  binding: PolicyBinding,
  request: AdmissionRequest,
): Denial[] {
  const resource = matches(deps, rule, binding, request);
  if (resource === undefined) return [];
  const inputs = inputsWithParams(deps, rule, binding, request, policyInput(deps, resource, request));
  if ("problem" in inputs) {
    if (rule.failurePolicy === "Ignore") return [];
    const named = `ValidatingAdmissionPolicy '${rule.name}' with binding '${binding.name}' denied request`;
    return [{ message: `${named}: failed to configure binding: ${inputs.problem}`, reason: "Invalid", code: 422 }];
  }
  const bound = {
    policyName: rule.name,
    bindingName: binding.name,
    validationActions: binding.actions as readonly ValidationAction[],
  };
  return inputs.found.flatMap((input) => {
    const { denial, warnings } = applyBinding(bound, rule.compiled.evaluate(input));
    for (const warning of warnings) request.context.warn(warning);
    return denial ?? [];
  });
}

function mutateOnce(
  deps: PolicyDeps,
  rule: MutatingRule,
  binding: PolicyBinding,
  request: AdmissionRequest,
): ApiObject {
  const resource = matches(deps, rule, binding, request);
  let object = request.object as ApiObject;
  if (resource === undefined) return object;
  const named = `policy '${rule.name}' with binding '${binding.name}' denied request`;
  const inputs = inputsWithParams(deps, rule, binding, request, policyInput(deps, resource, request));
  if ("problem" in inputs) {
    if (rule.failurePolicy === "Ignore") return object;
    throw mutationRefusal(request, [`${named}: failed to configure binding: ${inputs.problem}`], "Forbidden");
  }
  for (const input of inputs.found) {
    const current = { ...object, apiVersion: resource.apiVersion };
    const result = rule.compiled.evaluate({ ...input, object: current, schema: expandedSchema(rootSchema(resource)) });
    if (result.denied) {
      const messages = result.errors.map((error) => `${named}: ${error}`);
      throw mutationRefusal(request, messages, "Invalid");
    }
    // A mutation changes fields of an object of this kind; it is read again as such afterwards.
    if (result.changed) object = { ...(result.object as ApiObject), apiVersion: request.resource.apiVersion };
  }
  return object;
}

function refusal({ resource, name, object }: AdmissionRequest, { message, reason, code }: Denial): StatusError {
  const error = forbidden(resource, object?.metadata.name ?? name, message);
  Object.assign(error.status, { reason, code });
  error.status.details = { ...error.status.details, causes: [{ message }] };
  return error;
}

/** Mutating policies refuse in other words than validating ones: the first problem is the message, all are causes. */
function mutationRefusal(request: AdmissionRequest, messages: readonly string[], reason: string): StatusError {
  const [message = ""] = messages;
  const error = refusal(request, { message, reason, code: 403 });
  error.status.message = message;
  error.status.details = { ...error.status.details, causes: messages.map((text) => ({ message: text })) };
  return error;
}

/** The input once for each parameter object that the binding refers to; once without any if it refers to none. */
function inputsWithParams(
  deps: PolicyDeps,
  rule: ValidatingRule | MutatingRule,
  binding: PolicyBinding,
  request: AdmissionRequest,
  input: PolicyInput,
): { readonly found: readonly PolicyInput[] } | { readonly problem: string } {
  if (rule.paramKind === undefined || binding.paramRef === undefined) return { found: [input] };
  const { apiVersion, kind } = rule.paramKind;
  const resource = deps.registry.findKind(apiVersion, kind);
  if (resource === undefined)
    return { problem: `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'` };
  const found = paramsOf(deps, resource, binding.paramRef, request).map((params) => ({ ...input, params }));
  return found.length === 0 && binding.paramRef["parameterNotFoundAction"] !== "Allow"
    ? { problem: "no params found for policy binding with `Deny` parameterNotFoundAction" }
    : { found };
}

function paramsOf(
  { objects }: PolicyDeps,
  resource: Resource,
  reference: JsonObject,
  request: AdmissionRequest,
): ApiObject[] {
  const namespace = resource.namespaced ? textOf(reference["namespace"]) || request.namespace : "";
  const name = textOf(reference["name"]);
  if (name !== "") {
    const object = objects.find(resource, namespace, name);
    return object === undefined ? [] : [object];
  }
  const selector = valueAt(reference, "selector");
  if (!isJsonObject(selector)) return [];
  return objects.list(resource, namespace).filter((object) => matchesSelector(selector, object.metadata.labels ?? {}));
}
