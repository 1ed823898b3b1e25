import { isJsonObject, textOf, type JsonObject } from "../json.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { matchesSelector } from "../registry/label-selector.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import type { AdmissionRequest, Operation } from "./admission.ts";

/** Which requests a webhook or policy is about. */
export interface RequestMatch {
  readonly rules: readonly ResourceRule[];
  readonly excluded?: readonly ResourceRule[];
  /** Also requests in another version of a matching resource. */
  readonly equivalent: boolean;
  readonly namespaceSelector: unknown;
  readonly objectSelector: unknown;
}

interface ResourceRule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  readonly resources: readonly string[];
  readonly names: readonly string[];
  readonly scope: string;
}

export interface MatchDeps {
  readonly registry: ResourceRegistry;
  readonly objects: Objects;
  readonly namespaces: Resource;
}

/** Someone could lock everyone out of removing them, so these kinds are never shown to a webhook or policy. */
const exemptGroup = ".admissionregistration.k8s.io";

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export function readRules(rules: unknown): ResourceRule[] {
  return objectsIn(rules).map((rule) => ({
    operations: strings(rule["operations"]),
    groups: strings(rule["apiGroups"]),
    versions: strings(rule["apiVersions"]),
    resources: strings(rule["resources"]),
    names: strings(rule["resourceNames"]),
    scope: textOf(rule["scope"]) || "*",
  }));
}

/** Reads the `matchResources` of a policy or binding. */
export function readMatch(match: JsonObject): RequestMatch {
  return {
    rules: readRules(match["resourceRules"]),
    excluded: readRules(match["excludeResourceRules"]),
    equivalent: match["matchPolicy"] !== "Exact",
    namespaceSelector: match["namespaceSelector"] ?? {},
    objectSelector: match["objectSelector"] ?? {},
  };
}

/** The version of the resource in which the request matches; undefined when it does not. */
export function matchedResource(deps: MatchDeps, match: RequestMatch, request: AdmissionRequest): Resource | undefined {
  if (request.resource.bucket.endsWith(exemptGroup)) return undefined;
  const isExcluded = (match.excluded ?? []).some((rule) =>
    ruleMatches(rule, request.operation, request.resource, request),
  );
  if (isExcluded) return undefined;
  const resource = versionFor(deps, match, request);
  if (resource === undefined) return undefined;
  const labels = [request.object, request.old].flatMap((object) =>
    object === undefined ? [] : [object.metadata.labels ?? {}],
  );
  if (!labels.some((item) => matchesSelector(match.objectSelector, item))) return undefined;
  return namespaceMatches(deps, match, request) ? resource : undefined;
}

function versionFor(
  { registry }: MatchDeps,
  { rules, equivalent }: RequestMatch,
  request: AdmissionRequest,
): Resource | undefined {
  const matches = (candidate: Resource): boolean =>
    rules.some((rule) => ruleMatches(rule, request.operation, candidate, request));
  if (matches(request.resource)) return request.resource;
  if (!equivalent) return undefined;
  return registry.all().find((other) => other.bucket === request.resource.bucket && !other.virtual && matches(other));
}

function ruleMatches(
  rule: ResourceRule,
  operation: Operation,
  resource: Resource,
  { subresource, name }: AdmissionRequest,
): boolean {
  const has = (list: readonly string[], value: string): boolean => list.includes("*") || list.includes(value);
  return (
    has(rule.operations, operation) &&
    has(rule.groups, resource.group) &&
    has(rule.versions, resource.version) &&
    (rule.scope === "*" || rule.scope === (resource.namespaced ? "Namespaced" : "Cluster")) &&
    (rule.names.length === 0 || rule.names.includes(name)) &&
    rule.resources.some((pattern) => resourceMatches(pattern, resource.plural, subresource))
  );
}

/** `pods`, `pods/status`, `pods/*`, `*` (no subresources), `*` + `/status`, and everything. */
function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const [resource, sub = ""] = pattern.split("/", 2);
  if (resource !== "*" && resource !== plural) return false;
  return sub === "*" || sub === subresource;
}

function namespaceMatches(
  { objects, namespaces }: MatchDeps,
  { namespaceSelector }: RequestMatch,
  request: AdmissionRequest,
): boolean {
  if (isJsonObject(namespaceSelector) && Object.keys(namespaceSelector).length === 0) return true;
  const isNamespace = request.resource.bucket === "namespaces";
  if (!request.resource.namespaced && !isNamespace) return true;
  const namespace = isNamespace ? (request.object ?? request.old) : objects.find(namespaces, "", request.namespace);
  return matchesSelector(namespaceSelector, namespace?.metadata.labels ?? {});
}
