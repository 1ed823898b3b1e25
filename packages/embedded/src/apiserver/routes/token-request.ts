import { mayIssueToken } from "../admission/node-restriction.ts";
import type { ServiceAccountTokens, TokenSubject } from "../auth/service-account-tokens.ts";
import { tokenIssuer } from "../auth/service-account-tokens.ts";
import {
  badRequest,
  conflict,
  fieldError,
  forbidden,
  invalid,
  methodNotAllowed,
  notFound,
  type StatusError,
} from "../http/status-error.ts";
import { isJsonObject, valueAt, textOf } from "../json.ts";
import { timestamp } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { ResourceDeps } from "./resource-call.ts";
import type { SubresourceHandler } from "./resource-route.ts";

const minSeconds = 600;
const maxSeconds = 2 ** 32;

interface TokenRequestDeps extends Pick<ResourceDeps, "objects"> {
  readonly tokens: ServiceAccountTokens;
  /** Resources that a token can be bound to, by kind. */
  readonly bindable: Readonly<Record<string, Resource>>;
  readonly nodes: Resource;
}

/** Makes a token for a service account, bound to a pod or secret when asked: it ends with that object. */
export function tokenRequest(deps: TokenRequestDeps): SubresourceHandler {
  return async (call, verb) => {
    const { exchange, resource, namespace, target } = call;
    if (verb !== "create") throw methodNotAllowed();
    const account = deps.objects.get(resource, namespace, target.name);
    const { value } = await exchange.parsedBody();
    const spec = valueAt(value, "spec");
    const reference = valueAt(spec, "boundObjectRef");
    const { Pod: pods } = deps.bindable;
    if (pods !== undefined && !mayIssueToken(deps.objects, pods, exchange.user, namespace, reference)) {
      throw forbidden(resource, target.name, "a node may only ask for tokens of pods that it runs, bound to them");
    }
    const seconds = secondsOf(valueAt(spec, "expirationSeconds"));
    const asked = valueAt(spec, "audiences");
    const audiences = Array.isArray(asked) && asked.length > 0 ? asked.map(String) : [tokenIssuer];
    const subject: TokenSubject = {
      namespace,
      name: target.name,
      uid: account.metadata.uid ?? "",
      ...boundObject(deps, namespace, target.name, reference),
    };
    const { token, expires } = deps.tokens.issue(subject, audiences, seconds);
    exchange.send(
      201,
      {
        kind: "TokenRequest",
        apiVersion: "authentication.k8s.io/v1",
        metadata: { name: target.name, namespace },
        spec: { audiences, expirationSeconds: seconds, boundObjectRef: reference ?? null },
        status: { token, expirationTimestamp: timestamp(expires) },
      },
      call.format,
    );
  };
}

function secondsOf(value: unknown): number {
  if (value === undefined || value === null) return 3600;
  if (typeof value !== "number" || value < minSeconds) {
    throw wrongSeconds(value, "may not specify a duration less than 10 minutes");
  }
  if (value > maxSeconds) throw wrongSeconds(value, "may not specify a duration larger than 2^32 seconds");
  return value;
}

function wrongSeconds(value: unknown, detail: string): StatusError {
  const request = { group: "authentication.k8s.io", kind: "TokenRequest" };
  return invalid(request, "", [fieldError.invalid("spec.expirationSeconds", value, detail)]);
}

function boundObject(
  deps: TokenRequestDeps,
  namespace: string,
  account: string,
  reference: unknown,
): Partial<TokenSubject> {
  if (!isJsonObject(reference)) return {};
  const kind = textOf(reference["kind"]);
  const resource = deps.bindable[kind];
  if (resource === undefined)
    throw badRequest(`cannot bind token to object of type /${textOf(reference["apiVersion"])}, Kind=${kind}`);
  const name = textOf(reference["name"]);
  const object = deps.objects.find(resource, namespace, name);
  if (object === undefined) throw notFound(resource, name);
  const uid = object.metadata.uid ?? "";
  if (reference["uid"] !== undefined && reference["uid"] !== uid) {
    throw conflict(
      resource,
      name,
      `the UID in the bound object reference (${textOf(reference["uid"])}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (kind !== "Pod") return { secret: { name, uid } };
  if (valueAt(object, "spec", "serviceAccountName") !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  const nodeName = valueAt(object, "spec", "nodeName");
  const node = typeof nodeName === "string" ? deps.objects.find(deps.nodes, "", nodeName) : undefined;
  return {
    pod: { name, uid },
    ...(node === undefined ? {} : { node: { name: String(nodeName), uid: node.metadata.uid ?? "" } }),
  };
}
