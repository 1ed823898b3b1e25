import type { Type } from "./types.ts";

/** What the checker found out, by node id. Everything is optional: unchecked expressions run too, with the default costs. */
export interface CheckInfo {
  /** The type of every node. */
  readonly types: ReadonlyMap<number, Type>;
  /** Of a call: the overloads that fit the static types. One of them alone decides the cost. */
  readonly overloads: ReadonlyMap<number, readonly string[]>;
  /** Of a selection: the property it reads, where that is not the field's name. */
  readonly properties: ReadonlyMap<number, string>;
}

export const unchecked: CheckInfo = { types: new Map(), overloads: new Map(), properties: new Map() };
