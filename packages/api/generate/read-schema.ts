import { readFile, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { parseTypeExpression, type TypeExpression } from "./type-expression.ts";
import { scalars } from "./scalars.ts";

/** One field of a type, as `schema/*.yaml` declares it. */
export interface FieldSource {
  readonly type: TypeExpression;
  readonly about: string;
  /** Values that the API server enforces. */
  readonly enum?: readonly string[];
  /** Values that admission checks; the schema lets others through, so the TypeScript type stays open. */
  readonly values?: readonly string[];
  /** Values of a field that only our own roles write: a closed union in TypeScript, not enforced by the schema. */
  readonly states?: readonly string[];
  readonly default?: unknown;
  readonly limits: Readonly<Record<string, number | string>>;
}

export interface TypeSource {
  readonly name: string;
  /** The concept: the name of the file that declares it. */
  readonly concept: string;
  readonly about: string;
  readonly required: readonly string[];
  readonly nullable: boolean;
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, FieldSource>;
}

export interface ColumnSource {
  readonly name: string;
  readonly type?: string;
  readonly path: string;
  readonly about?: string;
  readonly wide?: boolean;
}

export interface KindSource {
  readonly kind: string;
  readonly group: string;
  readonly versions: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly ("status" | "scale")[];
  readonly columns: readonly ColumnSource[];
}

export interface SchemaSource {
  readonly types: ReadonlyMap<string, TypeSource>;
  readonly kinds: readonly KindSource[];
}

const limitNames = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"];

export async function readSchema(folder: string): Promise<SchemaSource> {
  const types = new Map<string, TypeSource>();
  const files = (await readdir(folder)).filter((name) => name.endsWith(".yaml") && name !== "kinds.yaml").sort();
  for (const file of files) {
    const concept = basename(file, ".yaml");
    const declared = await readYaml(join(folder, file));
    for (const [name, body] of Object.entries(declared)) {
      if (types.has(name)) throw new SyntaxError(`${file}: the type ${name} is declared twice`);
      types.set(name, readType(name, concept, asRecord(body, name)));
    }
  }
  const kinds = Object.entries(await readYaml(join(folder, "kinds.yaml"))).map(([kind, body]) => {
    // kinds.yaml is our own file; a wrong shape shows in the generated CRDs, which tests check.
    return { kind, ...asRecord(body, kind) } as unknown as KindSource;
  });
  checkReferences(types, kinds);
  return { types, kinds };
}

function readType(name: string, concept: string, body: Record<string, unknown>): TypeSource {
  const fields = new Map<string, FieldSource>();
  for (const [field, value] of Object.entries(asRecord(body["fields"] ?? {}, name))) {
    fields.set(field, readField(value, `${name}.${field}`));
  }
  const required = asStrings(body["required"] ?? [], `${name}.required`);
  for (const field of required) {
    if (!fields.has(field)) throw new SyntaxError(`${name} requires "${field}", which it does not declare`);
  }
  return {
    name,
    concept,
    about: asText(body["about"], name),
    required,
    nullable: body["nullable"] === true,
    atomic: body["atomic"] === true,
    fields,
  };
}

/** A field is either `type | about`, or a mapping when there is more to say. */
function readField(value: unknown, where: string): FieldSource {
  if (typeof value === "string") {
    const bar = value.indexOf("|");
    if (bar < 0) throw new SyntaxError(`${where}: expected "type | description", found "${value}"`);
    return { type: parseTypeExpression(value.slice(0, bar)), about: value.slice(bar + 1).trim(), limits: {} };
  }
  const body = asRecord(value, where);
  const limits: Record<string, number | string> = {};
  for (const name of limitNames) {
    const limit = body[name];
    if (typeof limit === "number" || typeof limit === "string") limits[name] = limit;
  }
  return {
    type: parseTypeExpression(asText(body["type"], where)),
    about: asText(body["about"], where),
    ...(body["enum"] === undefined ? {} : { enum: asStrings(body["enum"], where) }),
    ...(body["values"] === undefined ? {} : { values: asStrings(body["values"], where) }),
    ...(body["states"] === undefined ? {} : { states: asStrings(body["states"], where) }),
    ...(body["default"] === undefined ? {} : { default: body["default"] }),
    limits,
  };
}

function checkReferences(types: ReadonlyMap<string, TypeSource>, kinds: readonly KindSource[]): void {
  for (const type of types.values()) {
    for (const [field, source] of type.fields) {
      for (const name of namesIn(source.type)) {
        if (!types.has(name) && scalars[name] === undefined) {
          throw new SyntaxError(`${type.name}.${field} has the type "${name}", which nothing declares`);
        }
      }
    }
  }
  for (const { kind } of kinds) {
    if (!types.has(kind)) throw new SyntaxError(`kinds.yaml serves ${kind}, which no file declares`);
  }
}

export function namesIn(type: TypeExpression): string[] {
  if (type.kind === "named") return [type.name];
  return namesIn(type.kind === "map" ? type.values : type.items);
}

async function readYaml(path: string): Promise<Record<string, unknown>> {
  return asRecord(parse(await readFile(path, "utf8")), path);
}

function asRecord(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError(`${where}: expected a mapping`);
  }
  // A non-null object that is no array has string keys.
  return value as Record<string, unknown>;
}

function asText(value: unknown, where: string): string {
  if (typeof value !== "string" || value === "") throw new SyntaxError(`${where}: expected text`);
  return value;
}

function asStrings(value: unknown, where: string): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw new SyntaxError(`${where}: expected a list of strings`);
  }
  return value;
}
