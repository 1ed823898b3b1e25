import type { Expr } from "./ast.ts";
import type { CheckInfo } from "./check-info.ts";
import type { Declarations } from "./declarations.ts";
import type { Evaluate } from "./frame.ts";
import type { Issue, Range } from "./source.ts";
import { CelError, type Value } from "./values.ts";

/** What a node became. */
export interface Compiled {
  readonly run: Evaluate;
  /** Set when the value needs no evaluation. */
  readonly constant?: Value;
  /**
   * Set when the node is a variable, a path into something, or a choice between such: what it charges for itself beside its
   * steps. Selecting from it adds a step; as an index or as the branch of a choice it does not charge for itself.
   */
  readonly attribute?: 0 | 1;
}

/** What compiling a node needs from the whole. */
export interface CompileContext {
  readonly declarations: Declarations;
  readonly info: CheckInfo;
  /** Conversions of constants that fail whenever they run. */
  readonly hopeless: Issue[];
  compile(expr: Expr): Compiled;
  newSlot(): number;
  /** Compiles something in which a name means a slot. */
  withLocal<T>(name: string, slot: number, body: () => T): T;
}

export function constant(value: Value): Compiled {
  return { run: () => value, constant: value };
}

/** Gives errors that were born in this node its place in the source. */
export function located(value: Value, range: Range): Value {
  if (value instanceof CelError && value.range === undefined) {
    value.range = { start: range.start, end: range.end };
  }
  return value;
}
