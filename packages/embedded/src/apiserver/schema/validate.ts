import { fieldError, type FieldError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, type JsonObject } from "../json.ts";
import { formatError } from "./string-formats.ts";
import { propertySchema, type Schema } from "./schema.ts";

/** Checks a value against a structural schema; errors carry Kubernetes' wording. */
export function validateValue(value: unknown, schema: Schema, path: string): FieldError[] {
  const found: FieldError[] = [];
  checkValue(value, schema, path, found);
  return found;
}

function checkValue(value: unknown, schema: Schema, path: string, found: FieldError[]): void {
  if (value === null && schema.nullable === true) return;
  // A value of the wrong type is still held against the other rules: that is what Kubernetes does.
  if (!hasRightType(value, schema)) found.push(wrongType(value, schema, path));
  if (schema.enum !== undefined && !schema.enum.some((item) => deepEqual(item, value))) {
    found.push(fieldError.notSupported(path, value, schema.enum.map(String)));
  }
  if (typeof value === "string") checkString(value, schema, path, found);
  else if (typeof value === "number") checkNumber(value, schema, path, found);
  else if (Array.isArray(value)) checkArray(value, schema, path, found);
  else if (isJsonObject(value)) checkObject(value, schema, path, found);
  checkJunctors(value, schema, path, found);
}

function wrongType(value: unknown, schema: Schema, path: string): FieldError {
  const { format } = schema;
  const byFormat = format !== undefined && value !== null && typeof value !== "string" && !Array.isArray(value);
  const expected = schema["x-kubernetes-int-or-string"] === true ? "integer,string" : byFormat ? format : schema.type;
  const actual = byFormat ? goFormat(value) : typeName(value);
  return fieldError.typeInvalid(path, actual, `${path} in body must be of type ${expected}: ${JSON.stringify(actual)}`);
}

/** Where a schema names a format, Kubernetes compares with the type that Go gave the number; other types have none. */
function goFormat(value: unknown): string {
  if (typeof value !== "number") return "";
  return isInt64(value) ? "int64" : "float64";
}

/** Whole numbers beyond 64 bits are floating point numbers there. */
const isInt64 = (value: unknown): boolean => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 63;

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return isInt64(value) ? "integer" : "number";
  return typeof value;
}

function hasRightType(value: unknown, schema: Schema): boolean {
  const actual = typeName(value);
  if (schema["x-kubernetes-int-or-string"] === true) return actual === "integer" || actual === "string";
  if (schema.type === undefined) return true;
  return actual === schema.type || (schema.type === "number" && actual === "integer");
}

const patterns = new Map<string, RegExp | undefined>();

function compile(pattern: string): RegExp | undefined {
  if (!patterns.has(pattern)) {
    try {
      patterns.set(pattern, new RegExp(pattern, "u"));
    } catch {
      try {
        patterns.set(pattern, new RegExp(pattern));
      } catch {
        patterns.set(pattern, undefined);
      }
    }
  }
  return patterns.get(pattern);
}

function checkString(value: string, schema: Schema, path: string, found: FieldError[]): void {
  const { minLength, maxLength, pattern, format } = schema;
  const length = minLength !== undefined || maxLength !== undefined ? Array.from(value).length : 0;
  if (maxLength !== undefined && length > maxLength) {
    // Kubernetes does not look further at a text that is too long.
    found.push(fieldError.tooLong(path, maxLength));
    return;
  }
  if (minLength !== undefined && length < minLength) {
    found.push(fieldError.invalid(path, value, `${path} in body should be at least ${minLength} chars long`));
  }
  if (pattern !== undefined && compile(pattern)?.test(value) === false) {
    found.push(fieldError.invalid(path, value, `${path} in body should match '${pattern}'`));
  }
  if (format !== undefined && formatError(format, value)) {
    const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
    found.push(fieldError.typeInvalid(path, value, detail));
  }
}

function checkNumber(value: number, schema: Schema, path: string, found: FieldError[]): void {
  const { minimum, maximum, multipleOf, format } = schema;
  const fits = format === "int32" ? Math.abs(value + 0.5) < 2 ** 31 : true;
  if (schema.type === "integer" && !(isInt64(value) && fits)) {
    const wanted = format === undefined ? "(default format)" : `with format ${format}`;
    const detail = `Invalid value: "": Checked value must be of type integer ${wanted} in ${path}`;
    found.push({ field: "<nil>", reason: "FieldValueInvalid", message: detail });
  }
  const report = (detail: string) => found.push(fieldError.invalid(path, value, `${path} in body ${detail}`));
  if (minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    report(
      schema.exclusiveMinimum === true
        ? `should be greater than ${minimum}`
        : `should be greater than or equal to ${minimum}`,
    );
  }
  if (maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    report(
      schema.exclusiveMaximum === true
        ? `should be less than ${maximum}`
        : `should be less than or equal to ${maximum}`,
    );
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf))
    report(`should be a multiple of ${multipleOf}`);
}

function checkArray(value: readonly unknown[], schema: Schema, path: string, found: FieldError[]): void {
  const { minItems, maxItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) found.push(fieldError.tooMany(path, value.length, maxItems));
  if (minItems !== undefined && value.length < minItems) {
    found.push(fieldError.invalid(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (items !== undefined) value.forEach((item, index) => checkValue(item, items, `${path}[${index}]`, found));
  checkListKeys(value, schema, path, found);
}

function checkListKeys(value: readonly unknown[], schema: Schema, path: string, found: FieldError[]): void {
  const type = schema["x-kubernetes-list-type"];
  if (type !== "set" && type !== "map") return;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const identity = type === "set" ? item : Object.fromEntries(keys.map((key) => [key, keyValue(item, key, schema)]));
    const text = JSON.stringify(identity) ?? "null";
    if (seen.has(text)) found.push(fieldError.duplicate(`${path}[${index}]`, identity));
    seen.add(text);
  });
}

function keyValue(item: unknown, key: string, schema: Schema): unknown {
  const value = isJsonObject(item) ? item[key] : undefined;
  return value ?? schema.items?.properties?.[key]?.default;
}

function checkObject(value: JsonObject, schema: Schema, path: string, found: FieldError[]): void {
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) found.push(fieldError.required(at(key)));
  }
  if (schema["x-kubernetes-embedded-resource"] === true) {
    for (const key of ["apiVersion", "kind"]) if ((value[key] ?? "") === "") found.push(fieldError.required(at(key)));
  }
  const count = Object.keys(value).length;
  const { minProperties, maxProperties } = schema;
  if (maxProperties !== undefined && count > maxProperties) found.push(fieldError.tooMany(path, count, maxProperties));
  if (minProperties !== undefined && count < minProperties) {
    found.push(fieldError.invalid(path, count, `${path} in body should have at least ${minProperties} properties`));
  }
  for (const [key, item] of Object.entries(value)) {
    const child = propertySchema(schema, key);
    if (child !== undefined) checkValue(item, child, at(key), found);
  }
}

function checkJunctors(value: unknown, schema: Schema, path: string, found: FieldError[]): void {
  const passes = (branch: Schema): boolean => validateValue(value, branch, path).length === 0;
  const shown = JSON.stringify(path);
  const report = (detail: string) => found.push(fieldError.invalid(path, value, `${shown} ${detail}`));
  for (const branch of schema.allOf ?? []) checkValue(value, branch, path, found);
  if (schema.anyOf !== undefined && schema["x-kubernetes-int-or-string"] !== true && !schema.anyOf.some(passes)) {
    report("must validate at least one schema (anyOf)");
  }
  if (schema.oneOf !== undefined) {
    const valid = schema.oneOf.filter(passes).length;
    if (valid !== 1) {
      report(
        `must validate one and only one schema (oneOf). Found ${valid === 0 ? "none valid" : `${valid} valid alternatives`}`,
      );
    }
  }
  if (schema.not !== undefined && passes(schema.not)) report("must not validate the schema (not)");
}
