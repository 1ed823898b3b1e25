import type { Expr } from "./ast.ts";
import type { CheckInfo } from "./check-info.ts";
import type { CompiledExpression } from "./compile.ts";
import { errors } from "./errors.ts";
import type { Bounds } from "./estimate/bounds.ts";
import { estimateCost, type SizeAt } from "./estimate/estimate.ts";
import { CostExceeded, Frame } from "./frame.ts";
import { printExpr } from "./print.ts";
import { positionOf, type Range } from "./source.ts";
import type { Type } from "./types.ts";
import { CelError, adapt, type Value } from "./values.ts";
import { WorkExceeded, endWork, startWork } from "./work.ts";

/** Values of variables by name: JSON data, or values that an earlier evaluation returned. */
export type Bindings = Readonly<Record<string, unknown>>;

export interface EvaluateOptions {
  /** What the evaluation may cost at most. Default: what Kubernetes allows one expression. */
  readonly costLimit?: number;
}

export interface EvaluationFailure {
  /** `cost`: the limit was reached. `error`: the expression failed on this input. */
  readonly kind: "cost" | "error";
  readonly message: string;
  readonly range?: Range;
}

export type Evaluation =
  | { readonly ok: true; readonly value: Value; readonly cost: number }
  | { readonly ok: false; readonly failure: EvaluationFailure; readonly cost: number };

/** What Kubernetes allows one evaluation of one expression. */
export const defaultCostLimit = 1_000_000;

interface ProgramParts {
  readonly source: string;
  readonly expr: Expr;
  readonly type: Type;
  readonly info: CheckInfo;
  readonly compiled: CompiledExpression;
}

/** A compiled expression. An evaluation leaves nothing behind that the next one could see. */
export class Program {
  readonly source: string;
  readonly expr: Expr;
  /** The static type of the result. */
  readonly type: Type;
  readonly info: CheckInfo;
  readonly #compiled: CompiledExpression;
  #spare: Frame | undefined;

  constructor({ source, expr, type, info, compiled }: ProgramParts) {
    this.source = source;
    this.expr = expr;
    this.type = type;
    this.info = info;
    this.#compiled = compiled;
  }

  /** The expression in strict CEL, which a Kubernetes API server understands; for a relaxed one this is what runs. */
  get strictSource(): string {
    return printExpr(this.expr);
  }

  /** The variables that the expression reads. */
  get variables(): string[] {
    return this.#compiled.inputs.map((input) => input.name);
  }

  /** The least and most that an evaluation can cost, given how large inputs can be; Infinity when nothing bounds it. */
  estimateCost(sizeAt?: SizeAt): Bounds {
    return estimateCost(this.expr, this.info, sizeAt);
  }

  run(bindings: Bindings = {}, options: EvaluateOptions = {}): Evaluation {
    const { run, inputs } = this.#compiled;
    const frame = this.#takeFrame(options.costLimit ?? defaultCostLimit);
    for (const { name, slot } of inputs) {
      frame.slots[slot] = Object.hasOwn(bindings, name) ? adapt(bindings[name]) : undefined;
    }
    const previousWork = startWork();
    try {
      const value = run(frame);
      if (frame.cost > frame.limit) return tooExpensive(frame);
      if (value instanceof CelError) return failed(value, frame);
      return { ok: true, value, cost: frame.cost };
    } catch (error) {
      if (error instanceof CostExceeded || error instanceof WorkExceeded) return tooExpensive(frame);
      throw error;
    } finally {
      endWork(previousWork);
      this.#spare = frame;
    }
  }

  /** The frame of the last evaluation again, unless that one is still running (a lazy variable may lead back here). */
  #takeFrame(limit: number): Frame {
    const frame = this.#spare ?? new Frame(this.#compiled.slotCount);
    this.#spare = undefined;
    frame.cost = 0;
    frame.limit = limit;
    return frame;
  }

  /** The value, or throws `CelFailed` or `CelTooExpensive`. */
  evaluate(bindings: Bindings = {}, options: EvaluateOptions = {}): Value {
    const result = this.run(bindings, options);
    if (result.ok) return result.value;
    const { kind, message, range } = result.failure;
    const place = range === undefined ? "" : ` at ${describePlace(this.source, range)}`;
    const text = `evaluate CEL expression "${this.source}"${place}: ${message}`;
    throw kind === "cost" ? errors.CelTooExpensive(text) : errors.CelFailed(text);
  }
}

function describePlace(source: string, range: Range): string {
  const { line, column } = positionOf(source, range.start);
  return `${line}:${column}`;
}

function tooExpensive(frame: Frame): Evaluation {
  const message = "operation cancelled: actual cost limit exceeded";
  return { ok: false, failure: { kind: "cost", message }, cost: frame.cost };
}

function failed(error: CelError, frame: Frame): Evaluation {
  const failure: EvaluationFailure = {
    kind: "error",
    message: error.message,
    ...(error.range === undefined ? {} : { range: error.range }),
  };
  return { ok: false, failure, cost: frame.cost };
}
