import type { Clock } from "@polyvirt/core";

import type { Authorizer } from "../auth/rbac.ts";
import type { ServiceAccountTokens } from "../auth/service-account-tokens.ts";
import { tokenIssuer } from "../auth/service-account-tokens.ts";
import type { UserInfo } from "../auth/user.ts";
import { badRequest, fieldError, invalid, type FieldError } from "../http/status-error.ts";
import { isJsonObject, valueAt, type JsonObject, textOf } from "../json.ts";
import { trackUpdate } from "../managed-fields/track-update.ts";
import { decodeObject } from "../registry/decode.ts";
import { timestamp } from "../registry/objects.ts";
import type { Call } from "./resource-call.ts";

interface ReviewDeps {
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  readonly clock: Clock;
}

type Review = (call: Call) => Promise<void>;

/** Questions about who may do what: the answer is the posted object with a status. */
export function accessReviews({ authorizer, tokens, clock }: ReviewDeps): Readonly<Record<string, Review>> {
  const answering = (answer: Answer) => reviewing(clock, answer);
  const access = (userOf: (call: Call, spec: JsonObject) => UserInfo): Review =>
    answering((call, spec) => decide(authorizer, userOf(call, spec), spec));
  return {
    selfsubjectaccessreviews: access((call) => call.exchange.user),
    subjectaccessreviews: access((_call, spec) => userIn(spec)),
    localsubjectaccessreviews: access((call, spec) => {
      checkNamespace(call.namespace, spec);
      return userIn(spec);
    }),
    selfsubjectrulesreviews: answering((call, spec) => {
      const namespace = textOf(spec["namespace"]);
      if (namespace === "") throw badRequest("no namespace on request");
      return rulesOf(authorizer, call.exchange.user, namespace);
    }),
    tokenreviews: answering((_call, spec) => reviewToken(tokens, spec)),
    selfsubjectreviews: answering((call) => ({ userInfo: userJson(call.exchange.user) })),
  };
}

type Answer = (call: Call, spec: JsonObject) => JsonObject;

function reviewing(clock: Clock, answer: Answer): Review {
  return async (call) => {
    const { exchange, resource, format } = call;
    const { value } = await exchange.parsedBody();
    const context = exchange.context();
    const object = decodeObject(resource, value, context);
    const spec = isJsonObject(object["spec"]) ? object["spec"] : {};
    const now = timestamp(clock.now());
    if (resource.namespaced) object.metadata.namespace = call.namespace;
    // The only review without a question says when it was answered.
    if (object["spec"] === undefined) object.metadata.creationTimestamp = now;
    else trackUpdate({ resource, old: undefined, object, manager: context.fieldManager, now, subresource: "" });
    exchange.send(201, { ...object, status: answer(call, spec) }, format);
  };
}

function checkNamespace(namespace: string, spec: JsonObject): void {
  const asked = valueAt(spec, "resourceAttributes", "namespace");
  if (asked === namespace) return;
  const detail = "must match metadata.namespace";
  throw wrongQuestion(fieldError.invalid("spec.resourceAttributes.namespace", asked, detail));
}

/** Kubernetes does not name the kind here. */
const wrongQuestion = (error: FieldError) => invalid({ group: "authorization.k8s.io", kind: "" }, "", [error]);

function userIn(spec: JsonObject): UserInfo {
  const username = spec["user"] ?? "";
  const groups = spec["groups"];
  if (username === "" && !Array.isArray(groups))
    throw wrongQuestion(fieldError.invalid("spec.user", "", "at least one of user or group must be specified"));
  return { username: textOf(username), groups: Array.isArray(groups) ? groups.map(String) : [] };
}

function decide(authorizer: Authorizer, user: UserInfo, spec: JsonObject): JsonObject {
  const path = valueAt(spec, "nonResourceAttributes", "path");
  const attributes = spec["resourceAttributes"];
  const text = (key: string): string => textOf(valueAt(attributes, key));
  if (!isJsonObject(attributes) && path === undefined) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    throw wrongQuestion(fieldError.invalid("spec.resourceAttributes", null, detail));
  }
  const { allowed, reason } = isJsonObject(attributes)
    ? authorizer.authorize({
        user,
        verb: text("verb"),
        group: text("group"),
        namespace: text("namespace"),
        resource: text("resource"),
        subresource: text("subresource"),
        name: text("name"),
      })
    : authorizer.authorize({
        user,
        verb: textOf(valueAt(spec, "nonResourceAttributes", "verb")),
        path: textOf(path),
      });
  return { allowed, ...(reason === "" ? {} : { reason }) };
}

function rulesOf(authorizer: Authorizer, user: UserInfo, namespace: string): JsonObject {
  const rules = authorizer.rulesFor(user, namespace);
  return {
    resourceRules: rules
      .filter((rule) => rule.nonResourceURLs === undefined)
      .map(({ verbs, apiGroups = [], resources = [], resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames === undefined ? {} : { resourceNames }),
      })),
    nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
      nonResourceURLs === undefined ? [] : [{ verbs, nonResourceURLs }],
    ),
    incomplete: false,
  };
}

function reviewToken(tokens: ServiceAccountTokens, spec: JsonObject): JsonObject {
  const asked = spec["audiences"];
  const audiences = Array.isArray(asked) && asked.length > 0 ? asked.map(String) : [tokenIssuer];
  let refusal = "invalid bearer token";
  for (const audience of audiences) {
    const user = tokens.check(textOf(spec["token"]), audience);
    if (typeof user !== "string") return { authenticated: true, user: userJson(user), audiences: [audience] };
    refusal = user;
  }
  return { user: {}, error: refusal };
}

export function userJson({ username, uid, groups, extra }: UserInfo): JsonObject {
  return { username, ...(uid === undefined ? {} : { uid }), groups, ...(extra === undefined ? {} : { extra }) };
}
