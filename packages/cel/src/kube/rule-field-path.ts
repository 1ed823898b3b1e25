import { valuesSchema, type StructuralSchema } from "./structural-schema.ts";

const step = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y;

/** `.spec['x.y']` as a path of fields below a schema; undefined when it leads nowhere. */
export function normalizeFieldPath(path: string, schema: StructuralSchema): string | undefined {
  let current: StructuralSchema = schema;
  let result = "";
  step.lastIndex = 0;
  if (path === "") return undefined;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return undefined;
    const name = match[1] ?? (match[2] ?? "").replace(/\\(.)/g, "$1");
    const property =
      current.properties !== undefined && Object.hasOwn(current.properties, name)
        ? current.properties[name]
        : undefined;
    const next = property ?? (current.properties === undefined ? valuesSchema(current) : undefined);
    if (next === undefined) return undefined;
    result += property === undefined ? `[${name}]` : `${result === "" ? "" : "."}${name}`;
    current = next;
  }
  return result;
}
