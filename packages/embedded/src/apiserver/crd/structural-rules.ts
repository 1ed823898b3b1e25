import { compileCrdRules } from "@polyvirt/cel";

import { fieldError, type FieldError } from "../http/status-error.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { validateValue } from "../schema/validate.ts";

/**
 * Whether a schema is structural: every value has a type, so that objects can be pruned and defaulted. Inside allOf, anyOf,
 * oneOf and not only constraints may stand, no types and no defaults.
 */
export function structuralErrors(schema: JsonObject, field: string): FieldError[] {
  const found: FieldError[] = [];
  if (schema["type"] !== "object")
    found.push(fieldError.invalid(`${field}.type`, schema["type"], "must be object at the root"));
  checkLevel(schema, field, found, true);
  return found.length > 0 ? found : ruleErrors(schema, field);
}

/** Whether a schema carries rules anywhere; most do not, and then nothing needs to be compiled. */
export function hasRules(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasRules);
  if (!isJsonObject(schema)) return false;
  return Array.isArray(schema["x-kubernetes-validations"]) || Object.values(schema).some(hasRules);
}

/** What keeps the rules of a schema from being used. */
function ruleErrors(schema: JsonObject, field: string): FieldError[] {
  if (!hasRules(schema)) return [];
  const prefix = (path: string): string => (path === "" ? field : `${field}.${path}`);
  return compileCrdRules(schema).problems.map(({ schemaPath, message, reason }) => ({
    field: prefix(schemaPath),
    reason,
    // A problem may name another place of the schema.
    message: message.replace(/(?<= within )properties\[.*$/, prefix),
  }));
}

function checkLevel(schema: JsonObject, field: string, found: FieldError[], isRoot = false): void {
  const isFree =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if ((schema["type"] === undefined || schema["type"] === "") && !isFree && !isRoot) {
    found.push(fieldError.required(`${field}.type`, "must not be empty for specified object fields"));
  }
  if (schema["x-kubernetes-int-or-string"] === true && schema["type"] !== undefined && schema["type"] !== "") {
    found.push(
      fieldError.invalid(`${field}.type`, schema["type"], "must be empty if x-kubernetes-int-or-string is true"),
    );
  }
  // An object as a default gets its own fields' defaults later, and is checked with the object it is used in.
  if (schema["default"] !== undefined && !isJsonObject(schema["default"])) {
    const wrong = validateValue(schema["default"], schema, "");
    found.push(...wrong.map((error) => ({ ...error, field: `${field}.default${error.field}` })));
  }
  if (schema["$ref"] !== undefined) found.push(fieldError.forbidden(`${field}.$ref`, "$ref is not supported"));
  if (isJsonObject(schema["properties"]) && isJsonObject(schema["additionalProperties"])) {
    found.push(
      fieldError.forbidden(`${field}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  }
  if (schema["x-kubernetes-list-type"] === "map" && !Array.isArray(schema["x-kubernetes-list-map-keys"])) {
    found.push(
      fieldError.required(`${field}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"),
    );
  }
  for (const [name, child] of Object.entries(isJsonObject(schema["properties"]) ? schema["properties"] : {})) {
    if (isRoot && ["metadata", "apiVersion", "kind"].includes(name)) continue;
    if (isJsonObject(child)) checkLevel(child, `${field}.properties[${name}]`, found);
  }
  if (isJsonObject(schema["items"])) checkLevel(schema["items"], `${field}.items`, found);
  else if (schema["type"] === "array") found.push(fieldError.required(`${field}.items`, "must be specified"));
  if (isJsonObject(schema["additionalProperties"])) {
    checkLevel(schema["additionalProperties"], `${field}.additionalProperties`, found);
  }
}
