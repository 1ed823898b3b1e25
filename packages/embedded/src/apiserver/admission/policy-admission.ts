import { applyBinding, type PolicyInput, type ValidationAction } from "@polyvirt/cel";

import type { Authorizer } from "../auth/rbac.ts";
import { forbidden, type StatusError } from "../http/status-error.ts";
import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
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
      for (const { rule, binding } of deps.validating.all()) validateOnce(deps, rule, binding, request);
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

function validateOnce(deps: PolicyDeps, rule: ValidatingRule, binding: PolicyBinding, request: AdmissionRequest): void {
  const resource = matches(deps, rule, binding, request);
  if (resource === undefined) return;
  const bound = {
    policyName: rule.name,
    bindingName: binding.name,
    validationActions: binding.actions as readonly ValidationAction[],
  };
  for (const input of inputsWithParams(deps, rule, binding, request, policyInput(deps, resource, request))) {
    const { denial, warnings } = applyBinding(bound, rule.compiled.evaluate(input));
    for (const warning of warnings) request.context.warn(warning);
    if (denial !== undefined) throw refusal(request, denial.message, denial.reason, denial.code);
  }
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
  for (const input of inputsWithParams(deps, rule, binding, request, policyInput(deps, resource, request))) {
    const current = { ...object, apiVersion: resource.apiVersion };
    const result = rule.compiled.evaluate({ ...input, object: current, schema: expandedSchema(resource.schema) });
    if (result.denied) {
      const named = `policy '${rule.name}' with binding '${binding.name}' denied request`;
      throw refusal(request, `${named}: ${result.errors.join("; ")}`, "Invalid", 422);
    }
    // A mutation changes fields of an object of this kind; it is read again as such afterwards.
    if (result.changed) object = { ...(result.object as ApiObject), apiVersion: request.resource.apiVersion };
  }
  return object;
}

function refusal(
  { resource, name, object }: AdmissionRequest,
  message: string,
  reason: string,
  code: number,
): StatusError {
  const error = forbidden(resource, object?.metadata.name ?? name, message);
  Object.assign(error.status, { reason, code });
  error.status.details = { ...error.status.details, causes: [{ message }] };
  return error;
}

/** The input once for each parameter object that the binding refers to; once without any if it refers to none. */
function inputsWithParams(
  deps: PolicyDeps,
  rule: ValidatingRule | MutatingRule,
  binding: PolicyBinding,
  request: AdmissionRequest,
  input: PolicyInput,
): PolicyInput[] {
  if (rule.paramKind === undefined) return [input];
  const { apiVersion, kind } = rule.paramKind;
  const fail = (why: string): PolicyInput[] => {
    if (rule.failurePolicy === "Ignore") return [];
    const named = `policy '${rule.name}' with binding '${binding.name}' denied request`;
    throw refusal(request, `${named}: ${why}`, "Invalid", 422);
  };
  if (binding.paramRef === undefined) return [input];
  const resource = deps.registry.findKind(apiVersion, kind);
  if (resource === undefined)
    return fail(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`);
  const found = paramsOf(deps, resource, binding.paramRef, request);
  if (found.length > 0) return found.map((params) => ({ ...input, params }));
  return binding.paramRef["parameterNotFoundAction"] === "Allow"
    ? []
    : fail("no params found for policy binding with `Deny` parameterNotFoundAction");
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
