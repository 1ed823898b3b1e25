import { badRequest } from "../http/status-error.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { objectMetaReference } from "../schema/schema.ts";
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
  if (!isJsonObject(value)) throw badRequest(`couldn't get version/kind; json parse error: the body is not an object`);
  const { apiVersion = resource.apiVersion, kind = resource.kind } = value;
  if (kind !== resource.kind) {
    throw badRequest(
      `${String(kind)} in version ${JSON.stringify(version(String(apiVersion)))} cannot be handled as a ${resource.kind}: no kind ${JSON.stringify(kind)} is registered for this resource`,
    );
  }
  if (apiVersion !== resource.apiVersion) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${resource.apiVersion})`,
    );
  }
  const problems = (options.duplicates ?? []).map((path) => `duplicate field ${JSON.stringify(path)}`);
  const onUnknown = (path: string) => problems.push(`unknown field ${JSON.stringify(path)}`);
  const object = resource.typed ? decodeBuiltin(resource, value, onUnknown) : decodeCustom(resource, value, onUnknown);
  if (resource.typed && options.partial !== true) fillZeroValues(object, resource.definitionName);
  // Kubernetes tells them in the order of the body for its own kinds, and by name for custom resources.
  reportProblems(resource, resource.typed ? problems : problems.toSorted(), context);
  return object;
}

function decodeBuiltin(resource: Resource, value: JsonObject, onUnknown: (path: string) => void): ApiObject {
  const kind = { apiVersion: resource.version, kind: resource.kind };
  const decoded = decodeTyped(value, kind, resource.schema, onUnknown);
  return identified(resource, decoded);
}

function decodeCustom(resource: Resource, value: JsonObject, onUnknown: (path: string) => void): ApiObject {
  const { metadata } = value;
  const kind = { apiVersion: resource.version, kind: resource.kind };
  const decoded = decodeTyped(
    { metadata: isJsonObject(metadata) ? metadata : {} },
    kind,
    { type: "object", properties: { metadata: objectMetaReference } },
    onUnknown,
  );
  const object = identified(resource, { ...value, metadata: decoded["metadata"] });
  pruneUnknown(object, resource.schema, onUnknown);
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
