import { isJsonObject, type JsonObject } from "../json.ts";
import { fieldsOf } from "../protobuf/message-fields.ts";

/**
 * Fills in what Kubernetes' own types always write, even when nobody set it: `status: {}`, `resources: {}`, a count of 0.
 * Clients in other languages rely on some of them being there.
 */
export function fillZeroValues(object: JsonObject, schemaName: string): void {
  fillMessage(object, schemaName, true);
}

/** An object of the kind with nothing set, as those types would write it. */
export function zeroObject(schemaName: string): JsonObject {
  const object: JsonObject = {};
  fillMessage(object, schemaName, true, true);
  return object;
}

/** Lists that are always written are `null` there; we leave them out, as nobody expects to meet a null. */
function fillMessage(object: JsonObject, name: string, isRoot = false, withLists = false): void {
  const fields = fieldsOf(name).all;
  for (const field of fields) {
    if (field.inline) {
      fillMessage(object, field.type, false, withLists);
      continue;
    }
    if (isRoot && field.name === "metadata") continue;
    const value = object[field.name];
    if (value === undefined || value === null) {
      if (field.zero === "struct") object[field.name] = emptyStruct(field.type, withLists);
      else if (field.zero !== undefined && field.zero !== null) object[field.name] = field.zero;
      else if (field.zero === null && withLists) object[field.name] = field.shape === "r" ? [] : {};
    } else if (field.type.includes(".")) {
      fillChildren(value, field.type, field.shape);
    }
  }
}

function emptyStruct(type: string, withLists: boolean): JsonObject {
  const result: JsonObject = {};
  fillMessage(result, type, false, withLists);
  return result;
}

function fillChildren(value: unknown, type: string, shape: string): void {
  if (shape === "r" && Array.isArray(value)) {
    for (const item of value) if (isJsonObject(item)) fillMessage(item, type);
  } else if (shape === "m" && isJsonObject(value)) {
    for (const item of Object.values(value)) if (isJsonObject(item)) fillMessage(item, type);
  } else if (isJsonObject(value)) {
    fillMessage(value, type);
  }
}
