import { entriesOf, type Entries } from "./access.ts";
import type { ComprehensionExpr } from "./ast.ts";
import { located, type CompileContext, type Compiled } from "./compiled.ts";
import { MapBuilder } from "./compile-literal.ts";
import { prices } from "./cost-rules.ts";
import { checkCost, type Evaluate, type Frame } from "./frame.ts";
import { CelError, adapt, isMap, mapKeys, mapGet, type Value } from "./values.ts";

interface Parts {
  readonly expr: ComprehensionExpr;
  readonly range: Evaluate;
  readonly filter: Evaluate | undefined;
  readonly body: Evaluate;
  /** The body needs no evaluation: Kubernetes then builds its one-element list for free. */
  readonly bodyIsConstant: boolean;
  /** Stores the entry of one round where the body looks for it. */
  readonly bind: (frame: Frame, entries: Entries, round: number) => void;
}

/**
 * Macros run as loops. A failing round does not end the loop: it goes on, and is paid for, as in Kubernetes. The cost is
 * that of the folds that Kubernetes expands macros to: each round pays for reading the accumulator and for the operators
 * of the fold's condition and step, and the result is read once at the end.
 */
export function compileComprehension(compiler: CompileContext, expr: ComprehensionExpr): Compiled {
  const range = compiler.compile(expr.range).run;
  const slot = compiler.newSlot();
  const slot2 = expr.variable2 === undefined ? -1 : compiler.newSlot();
  const inner = compiler.withLocal(expr.variable, slot, () =>
    compiler.withLocal(expr.variable2 ?? "", slot2, () => ({
      filter: expr.filter === undefined ? undefined : compiler.compile(expr.filter).run,
      body: compiler.compile(expr.body),
    })),
  );
  const bind =
    slot2 === -1
      ? (frame: Frame, entries: Entries, round: number): void => {
          frame.slots[slot] = entries.key(round);
        }
      : (frame: Frame, entries: Entries, round: number): void => {
          frame.slots[slot] = entries.key(round);
          frame.slots[slot2] = entries.value(round);
        };
  const parts: Parts = {
    expr,
    range,
    filter: inner.filter,
    body: inner.body.run,
    bodyIsConstant: inner.body.constant !== undefined,
    bind,
  };
  switch (expr.macro) {
    case "all":
      return quantifier(parts, slot, { decisive: false, costOfCondition: 2 });
    case "exists":
      return quantifier(parts, slot, { decisive: true, costOfCondition: 3 });
    case "exists_one":
      return existsOne(parts);
    case "map":
    case "transformList":
      return collect(parts);
    case "filter":
      return keep(parts, slot);
    case "transformMap":
    case "transformMapEntry":
      return collectMap(parts);
  }
}

/** The entries of a one-variable macro are a list's elements or a map's keys; `key` yields them. */
function roundsOf(parts: Parts, frame: Frame): Entries | CelError {
  const range = parts.range(frame);
  if (parts.expr.variable2 !== undefined) return locatedEntries(entriesOf(range, true), parts.expr);
  if (Array.isArray(range)) {
    const list: readonly Value[] = range;
    const element = (round: number): Value => adapt(list[round]) ?? null;
    return { length: list.length, key: element, value: element };
  }
  return locatedEntries(entriesOf(range, false), parts.expr);
}

function locatedEntries(entries: Entries | CelError, expr: ComprehensionExpr): Entries | CelError {
  if (entries instanceof CelError) located(entries, expr.range);
  return entries;
}

function notBoolean(value: Value): CelError {
  return value instanceof CelError ? value : new CelError("no such overload");
}

function quantifier(
  parts: Parts,
  slot: number,
  { decisive, costOfCondition }: { decisive: boolean; costOfCondition: number },
): Compiled {
  const { range, body, bind, expr } = parts;
  const costPerRound = costOfCondition + 1;
  /** Once decided, the condition is looked at one more time, if there would be another round. */
  const decide = (frame: Frame, round: number, rounds: number): boolean => {
    if (round < rounds - 1) frame.cost += costOfCondition;
    return decisive;
  };
  const overEntries = (frame: Frame, entries: Entries): Value => {
    let failure: CelError | undefined;
    for (let round = 0; round < entries.length; round += 1) {
      frame.cost += costPerRound;
      checkCost(frame);
      bind(frame, entries, round);
      const value = body(frame);
      if (value === decisive) return decide(frame, round, entries.length);
      if (value !== !decisive) failure ??= notBoolean(value);
    }
    return failure ?? !decisive;
  };
  const overList = (frame: Frame, list: readonly Value[]): Value => {
    let failure: CelError | undefined;
    const { slots } = frame;
    for (let round = 0; round < list.length; round += 1) {
      frame.cost += costPerRound;
      if (frame.cost > frame.limit) checkCost(frame);
      const item = list[round];
      slots[slot] = typeof item === "object" || typeof item === "string" ? item : (adapt(item) ?? null);
      const value = body(frame);
      if (value === decisive) return decide(frame, round, list.length);
      if (value !== !decisive) failure ??= notBoolean(value);
    }
    return failure ?? !decisive;
  };
  if (expr.variable2 === undefined) {
    return {
      run: (frame) => {
        const items = range(frame);
        if (Array.isArray(items)) {
          frame.cost += 1;
          return overList(frame, items);
        }
        const entries = locatedEntries(entriesOf(items, false), expr);
        if (entries instanceof CelError) return entries;
        frame.cost += 1;
        return overEntries(frame, entries);
      },
    };
  }
  return {
    run: (frame) => {
      const entries = roundsOf(parts, frame);
      if (entries instanceof CelError) return entries;
      frame.cost += 1;
      return overEntries(frame, entries);
    },
  };
}

function existsOne(parts: Parts): Compiled {
  const { body, bind } = parts;
  return {
    run: (frame) => {
      const entries = roundsOf(parts, frame);
      if (entries instanceof CelError) return entries;
      frame.cost += 2;
      let count = 0;
      let failure: CelError | undefined;
      for (let round = 0; round < entries.length; round += 1) {
        checkCost(frame);
        bind(frame, entries, round);
        const value = body(frame);
        if (value === true) {
          frame.cost += 2;
          count += 1;
        } else if (value !== false) {
          failure = notBoolean(value);
        }
      }
      return failure ?? count === 1;
    },
  };
}

/** Whether an entry takes part; an error when the filter has no answer. */
function admits(parts: Parts, frame: Frame): boolean | CelError {
  if (parts.filter === undefined) return true;
  const value = parts.filter(frame);
  return typeof value === "boolean" ? value : notBoolean(value);
}

function collect(parts: Parts): Compiled {
  const { body, bind } = parts;
  // Reading the accumulator, making the one-element list, joining the two.
  const costPerElement = 1 + (parts.bodyIsConstant ? 0 : prices.list) + 1;
  return {
    run: (frame) => {
      const entries = roundsOf(parts, frame);
      if (entries instanceof CelError) return entries;
      frame.cost += 1;
      const list: Value[] = [];
      let failure: CelError | undefined;
      for (let round = 0; round < entries.length; round += 1) {
        checkCost(frame);
        bind(frame, entries, round);
        const admitted = admits(parts, frame);
        if (admitted instanceof CelError) failure = admitted;
        if (admitted !== true) continue;
        frame.cost += costPerElement;
        const value = body(frame);
        if (value instanceof CelError) failure ??= value;
        else list.push(value);
      }
      return failure ?? list;
    },
  };
}

function keep(parts: Parts, slot: number): Compiled {
  const { body, bind } = parts;
  return {
    run: (frame) => {
      const entries = roundsOf(parts, frame);
      if (entries instanceof CelError) return entries;
      frame.cost += 1;
      const list: Value[] = [];
      let failure: CelError | undefined;
      for (let round = 0; round < entries.length; round += 1) {
        checkCost(frame);
        bind(frame, entries, round);
        const value = body(frame);
        if (value === true) {
          frame.cost += 1 + prices.list + 1 + 1;
          list.push(frame.slots[slot] ?? null);
        } else if (value !== false) {
          failure = notBoolean(value);
        }
      }
      return failure ?? list;
    },
  };
}

function collectMap(parts: Parts): Compiled {
  const { body, bind, expr } = parts;
  // Reading the accumulator and inserting; the first form also reads the key.
  const costPerEntry = expr.macro === "transformMap" ? 3 : 2;
  const exists = (key: string | number | bigint | boolean): string =>
    `insert failed: key ${String(key)} already exists`;
  const insertEntries = (builder: MapBuilder, value: Value): CelError | undefined => {
    if (!isMap(value)) return notBoolean(value);
    for (const key of mapKeys(value)) {
      const problem = builder.add(key, mapGet(value, key) ?? null, exists);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return {
    run: (frame) => {
      const entries = roundsOf(parts, frame);
      if (entries instanceof CelError) return entries;
      frame.cost += 1;
      const builder = new MapBuilder();
      for (let round = 0; round < entries.length; round += 1) {
        checkCost(frame);
        bind(frame, entries, round);
        const admitted = admits(parts, frame);
        if (admitted instanceof CelError) return admitted;
        if (!admitted) continue;
        frame.cost += costPerEntry;
        const value = body(frame);
        if (value instanceof CelError) return value;
        const problem =
          expr.macro === "transformMap"
            ? builder.add(entries.key(round), value, exists)
            : insertEntries(builder, value);
        if (problem !== undefined) return located(problem, expr);
      }
      return builder.build();
    },
  };
}
