import type { ListExpr, MapExpr, StructExpr } from "./ast.ts";
import { constant, located, type CompileContext, type Compiled } from "./compiled.ts";
import { prices } from "./cost-rules.ts";
import type { Frame } from "./frame.ts";
import { candidateNames } from "./names.ts";
import { CelError, CelMap, Optional, StructValue, Uint, mapKeyOf, type MapKey, type Value } from "./values.ts";

/** What an entry marked `?` adds: undefined when its optional is empty. */
function present(value: Value, optional: boolean): Value | undefined {
  if (!optional) return value;
  if (value instanceof Optional) return value.value;
  return value instanceof CelError
    ? value
    : new CelError("cannot initialize an optional entry from a non-optional value");
}

export function compileList(compiler: CompileContext, expr: ListExpr): Compiled {
  const elements = expr.elements.map(({ value, optional }) => ({ ...compiler.compile(value), optional }));
  const build = (frame: Frame): Value => {
    const list: Value[] = [];
    for (const { run, optional } of elements) {
      const value = present(run(frame), optional);
      if (value instanceof CelError) return located(value, expr);
      if (value !== undefined) list.push(value);
    }
    return list;
  };
  if (elements.every((element) => element.constant !== undefined && !element.optional)) {
    return constant(elements.map((element) => element.constant ?? null));
  }
  return {
    run: (frame) => {
      frame.cost += prices.list;
      return build(frame);
    },
  };
}

/** Collects entries, refusing keys that cannot be one and keys that occur twice. */
export class MapBuilder {
  readonly #entries = new Map<MapKey, Value>();
  #uintKeys: Set<MapKey> | undefined;

  /** An error, or undefined when the entry was added. */
  add(key: Value, value: Value, problem: (key: MapKey) => string): CelError | undefined {
    const stored = typeof key === "object" && !(key instanceof Uint) ? undefined : mapKeyOf(key);
    if (stored === undefined) return new CelError("unsupported key type");
    if (this.#entries.has(stored)) return new CelError(problem(stored));
    this.#entries.set(stored, value);
    if (key instanceof Uint) (this.#uintKeys ??= new Set()).add(stored);
    return undefined;
  }

  build(): CelMap {
    return new CelMap(this.#entries, this.#uintKeys);
  }
}

const repeated = (key: MapKey): string => `Failed with repeated key: ${String(key)}`;

export function compileMap(compiler: CompileContext, expr: MapExpr): Compiled {
  const entries = expr.entries.map((entry) => ({
    key: compiler.compile(entry.key),
    value: compiler.compile(entry.value),
    optional: entry.optional,
  }));
  const build = (frame: Frame): Value => {
    const builder = new MapBuilder();
    for (const entry of entries) {
      const key = entry.key.run(frame);
      if (key instanceof CelError) return key;
      const value = present(entry.value.run(frame), entry.optional);
      if (value instanceof CelError) return located(value, expr);
      if (value === undefined) continue;
      const problem = builder.add(key, value, repeated);
      if (problem !== undefined) return located(problem, expr);
    }
    return builder.build();
  };
  const isConstant = entries.every(
    ({ key, value, optional }) => key.constant !== undefined && value.constant !== undefined && !optional,
  );
  if (isConstant) {
    const builder = new MapBuilder();
    const problems = entries.map(({ key, value }) =>
      builder.add(key.constant ?? null, value.constant ?? null, repeated),
    );
    if (problems.every((problem) => problem === undefined)) return constant(builder.build());
  }
  return {
    run: (frame) => {
      frame.cost += prices.map;
      return build(frame);
    },
  };
}

export function compileStruct(compiler: CompileContext, expr: StructExpr): Compiled {
  const { types, container } = compiler.declarations;
  const typeName = candidateNames(container, expr.typeName).find((name) => types.findType(name) !== undefined);
  if (typeName === undefined) {
    return { run: () => new CelError(`unknown type: ${expr.typeName}`, { start: expr.start, end: expr.end }) };
  }
  const fields = expr.fields.map((field) => ({
    name: types.findField(typeName, field.name)?.property ?? field.name,
    known: types.findField(typeName, field.name) !== undefined,
    run: compiler.compile(field.value).run,
    optional: field.optional,
  }));
  return {
    run: (frame) => {
      frame.cost += prices.struct;
      const values = new Map<string, Value>();
      for (const { name, known, run, optional } of fields) {
        if (!known) return new CelError(`no such field: ${name}`, { start: expr.start, end: expr.end });
        const value = present(run(frame), optional);
        if (value instanceof CelError) return located(value, expr);
        if (value !== undefined) values.set(name, value);
      }
      return located(types.construct?.(typeName, values) ?? new StructValue(typeName, values), expr);
    },
  };
}
