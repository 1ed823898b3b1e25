import type { FieldInfo, TypeProvider } from "../type-provider.ts";
import { DYN, STRING, structType, type Type } from "../types.ts";
import { CelMap, StructValue, type Value } from "../values.ts";

export const OBJECT: Type = structType("Object");
export const JSON_PATCH: Type = structType("JSONPatch");

const patchFields: Readonly<Record<string, FieldInfo>> = {
  op: { type: STRING },
  path: { type: STRING },
  from: { type: STRING },
  value: { type: DYN },
};

const isObjectType = (name: string): boolean => name === "Object" || name.startsWith("Object.");

/** `Object{…}`, `Object.spec{…}` and so on with any fields, and `JSONPatch{…}`. */
export const mutationTypes: TypeProvider = {
  findType: (name) => (isObjectType(name) || name === "JSONPatch" ? structType(name) : undefined),
  findField: (typeName, field) => {
    if (isObjectType(typeName)) return { type: DYN };
    return typeName === "JSONPatch" && Object.hasOwn(patchFields, field) ? patchFields[field] : undefined;
  },
  fieldNames: (typeName) => (typeName === "JSONPatch" ? Object.keys(patchFields) : []),
};

/** Each object must be called after the field that it stands in: `spec: Object.spec{…}`. All that are not. */
export function typeNameProblems(value: Value, path = "Object"): string[] {
  if (value instanceof StructValue) {
    const own =
      value.typeName === path
        ? []
        : [
            `unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
          ];
    return [...own, ...[...value.fields].flatMap(([name, field]) => typeNameProblems(field, `${path}.${name}`))];
  }
  if (Array.isArray(value)) return value.flatMap((item: Value) => typeNameProblems(item, path));
  if (value instanceof CelMap) return [...value.entries.values()].flatMap((item) => typeNameProblems(item, path));
  return [];
}
