import { badRequest, fieldError, invalid } from "../http/status-error.ts";
import { summary } from "../http/body-summary.ts";
import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { isDefined, objectMetaReference } from "../schema/schema.ts";
import { pruneUnknown } from "../schema/structural.ts";
import { decodeTyped } from "../schema/typed-decode.ts";
import { fillZeroValues } from "../schema/zero-values.ts";
import type { RequestContext } from "./request-context.ts";
import type { Resource } from "./resource.ts";

interface DecodeOptions {
  /** Fields that the text named twice. */
  readonly duplicates?: readonly string[];
  /** The value is an applied configuration: what it does not say stays unsaid. */
  readonly partial?: boolean;
}

/**
 * Reads a request's JSON as an object of the resource: right kind, known fields, right types. Unknown fields are dropped,
 * and refused or warned about as the client asked.
 */
export function decodeObject(
  resource: Resource,
  value: unknown,
  context: Pick<RequestContext, "fieldValidation" | "warn">,
  options: DecodeOptions = {},
): ApiObject {
  if (!isJsonObject(value)) throw badRequest("the object provided is not an object");
  if (resource.typed) checkBuiltinKind(resource, value);
  else checkCustomKind(resource, value);
  const problems = (options.duplicates ?? []).map((path) => `duplicate field ${JSON.stringify(path)}`);
  const onUnknown = (path: string) => problems.push(`unknown field ${JSON.stringify(path)}`);
  const decode = resource.typed ? decodeBuiltin : decodeCustom;
  const object = decode(resource, value, { onUnknown, keepsEmpty: options.partial === true });
  if (resource.typed && options.partial !== true) fillZeroValues(object, resource.definitionName);
  // Kubernetes tells them in the order of the body for its own kinds, and by name for custom resources.
  reportProblems(resource, resource.typed ? problems : problems.toSorted(), context);
  return object;
}

/** Built-in kinds may leave out what they are; what they say must be right. */
function checkBuiltinKind(resource: Resource, value: JsonObject): void {
  const { apiVersion = resource.apiVersion, kind = resource.kind } = value;
  if (kind === resource.kind && apiVersion === resource.apiVersion) return;
  const named = version(String(apiVersion));
  const why = isDefined(String(apiVersion), String(kind))
    ? `converting (${named}.${String(kind)}) to (${resource.group.split(".")[0] || "core"}.${resource.kind}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`;
  throw badRequest(
    `${String(kind)} in version ${JSON.stringify(named)} cannot be handled as a ${resource.kind}: ${why}`,
  );
}

function checkCustomKind(resource: Resource, value: JsonObject): void {
  const { apiVersion, kind } = value;
  for (const [field, given] of Object.entries({ Kind: kind, apiVersion })) {
    if (given !== undefined && given !== "") continue;
    const text = JSON.stringify(value);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object '${field}' is missing in '${text}' (${summary(Buffer.from(text))})`,
    );
  }
  if (apiVersion !== resource.apiVersion) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${resource.apiVersion})`,
    );
  }
  if (kind !== resource.kind) {
    const name = textOf(valueAt(value, "metadata", "name"));
    const error = fieldError.invalid("kind", kind, `must be ${resource.kind}`);
    throw invalid({ group: resource.group, kind: String(kind) }, name, [error]);
  }
}

interface Reading {
  readonly onUnknown: (path: string) => void;
  readonly keepsEmpty: boolean;
}

function decodeBuiltin(resource: Resource, value: JsonObject, reading: Reading): ApiObject {
  const kind = { apiVersion: resource.version, kind: resource.kind };
  const decoded = decodeTyped(value, kind, resource.schema, reading);
  return identified(resource, decoded);
}

function decodeCustom(resource: Resource, value: JsonObject, reading: Reading): ApiObject {
  const { metadata } = value;
  const kind = { apiVersion: resource.version, kind: resource.kind };
  const decoded = decodeTyped(
    { metadata: isJsonObject(metadata) ? metadata : {} },
    kind,
    { type: "object", properties: { metadata: objectMetaReference } },
    reading,
  );
  const object = identified(resource, { ...value, metadata: decoded["metadata"] });
  pruneUnknown(object, resource.schema, reading.onUnknown);
  return object;
}

/** The object with its identity first, the order in which it is written and stored. */
function identified(resource: Resource, value: JsonObject): ApiObject {
  const { apiVersion: _, kind: __, metadata, ...rest } = value;
  return {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: isJsonObject(metadata) ? metadata : {},
    ...rest,
  };
}

function reportProblems(
  resource: Resource,
  problems: readonly string[],
  context: Pick<RequestContext, "fieldValidation" | "warn">,
): void {
  if (problems.length === 0 || context.fieldValidation === "Ignore") return;
  if (context.fieldValidation === "Warn") {
    for (const problem of problems) context.warn(problem);
    return;
  }
  throw badRequest(
    `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: strict decoding error: ${problems.join(", ")}`,
  );
}

const version = (apiVersion: string): string => apiVersion.split("/").at(-1) ?? apiVersion;
