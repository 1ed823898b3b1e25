import { fieldError, type FieldError } from "../http/status-error.ts";
import { isJsonObject } from "../json.ts";
import { propertySchema, resolve, type Schema } from "../schema/schema.ts";

const ignoredRoots = new Set(["status", "metadata", "apiVersion", "kind"]);

/** What the schema of a built-in kind calls required and the object lacks; `optional` lists exceptions without indexes. */
export function missingFields(value: unknown, schema: Schema, optional: readonly string[] = []): FieldError[] {
  const found: FieldError[] = [];
  visit(value, schema, "", "", new Set(optional), found);
  return found;
}

function visit(
  value: unknown,
  reference: Schema,
  path: string,
  plainPath: string,
  optional: ReadonlySet<string>,
  found: FieldError[],
): void {
  const schema = resolve(reference);
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    value.forEach((item, index) => visit(item, items, `${path}[${index}]`, plainPath, optional, found));
    return;
  }
  if (!isJsonObject(value)) return;
  for (const key of schema.required ?? []) {
    const plain = plainPath === "" ? key : `${plainPath}.${key}`;
    if (optional.has(plain) || (path === "" && ignoredRoots.has(key))) continue;
    const isEmpty =
      value[key] === undefined ||
      value[key] === 0 ||
      (value[key] === "" && propertySchema(schema, key)?.enum === undefined);
    if (isEmpty) found.push(fieldError.required(path === "" ? key : `${path}.${key}`));
  }
  for (const [key, item] of Object.entries(value)) {
    if (path === "" && ignoredRoots.has(key)) continue;
    const child = propertySchema(schema, key);
    if (child === undefined) continue;
    visit(
      item,
      child,
      path === "" ? key : `${path}.${key}`,
      plainPath === "" ? key : `${plainPath}.${key}`,
      optional,
      found,
    );
  }
}
