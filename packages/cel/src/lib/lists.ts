import { prices, sizeOf } from "../cost-rules.ts";
import { celEquals } from "../equality.ts";
import { args, declare, global, member, type CallCost, type FunctionDeclaration, type Param } from "../functions.ts";
import type { Library } from "../library.ts";
import { compareValues } from "../stdlib/comparison.ts";
import { DYN, INT, listOf, param } from "../types.ts";
import { CelError, typeNameOf, type Value } from "../values.ts";
import { spend } from "../work.ts";

type Int = number | bigint;
const T = param("T");
const list = args.list(T);

function slice(items: readonly Value[], start: Int, end: Int): Value {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (end > items.length) return new CelError(`${call}, list is length ${items.length}`);
  return items.slice(Number(start), Number(end));
}

function flatten(items: readonly Value[], depth: Int): Value {
  if (depth < 0) return new CelError("level must be non-negative");
  const result: Value[] = [];
  const visit = (values: readonly Value[], left: number): void => {
    spend(values.length);
    for (const value of values) {
      if (Array.isArray(value) && left > 0) visit(value, left - 1);
      else result.push(value);
    }
  };
  visit(items, Number(depth));
  return result;
}

function range(count: Int): Value {
  const length = Math.max(0, Number(count));
  spend(length);
  return Array.from({ length }, (_, index) => index);
}

function reverse(items: readonly Value[]): Value {
  spend(items.length);
  return [...items].reverse();
}

function distinct(items: readonly Value[]): Value {
  const kept: Value[] = [];
  spend(items.length * items.length * 2);
  for (const item of items) {
    if (!kept.some((other) => celEquals(item, other))) kept.push(item);
  }
  return kept;
}

const sort = (items: readonly Value[]): Value => sortByKeys(items, items);

function sortByKeys(items: readonly Value[], keys: readonly Value[]): Value {
  const [first] = keys;
  if (first === undefined) return items;
  if (compareValues(first, first) instanceof CelError) return new CelError("list elements must be comparable");
  const type = typeNameOf(first);
  if (keys.some((key) => typeNameOf(key) !== type)) return new CelError("list elements must have the same type");
  spend(items.length * 10);
  const order = (a: number, b: number): number => {
    const result = compareValues(keys[a] ?? null, keys[b] ?? null);
    return typeof result === "number" ? result : 0;
  };
  return items
    .map((_, index) => index)
    .sort(order)
    .map((index) => items[index] ?? null);
}

const comparable: readonly [string, Param<Value>][] = [
  ["int", args.int],
  ["uint", args.uint],
  ["double", args.double],
  ["bool", args.bool],
  ["google.protobuf.Duration", args.duration],
  ["google.protobuf.Timestamp", args.timestamp],
  ["string", args.string],
  ["bytes", args.bytes],
];

const allocating = (factor: number, size: number): number => Math.floor(size * factor) + 1 + prices.list;
const byResult: CallCost = (_values, result) => allocating(1, sizeOf(result));
const byInput: CallCost = ([items = null, depth = 1]) => allocating(Number(depth), sizeOf(items));

function selfCompare(items: Value): number {
  const size = sizeOf(items);
  const first: Value | undefined = Array.isArray(items) ? items[0] : undefined;
  const factor = typeof first === "string" || first instanceof Uint8Array ? 2 + prices.character : 2;
  return allocating(factor, size * size);
}

/** By version of cel-go's library: 0 `slice`, 1 `flatten`, 2 the rest; Kubernetes has version 3, which only adds prices. */
const functions: readonly FunctionDeclaration[] = [
  declare("slice", [member("list_slice", [list, args.int, args.int], listOf(T), slice)], { overloadCost: byResult }),
  declare(
    "flatten",
    [
      member("list_flatten", [args.list(listOf(T))], listOf(T), (items) => flatten(items, 1)),
      member("list_flatten_int", [args.list(DYN), args.int], listOf(DYN), flatten),
    ],
    { overloadCost: byInput },
  ),
  declare(
    "sort",
    comparable.map(([name, element]) =>
      member(`list_${name}_sort`, [args.listWhere(element)], listOf(element.type), sort),
    ),
    { overloadCost: ([items = null]) => selfCompare(items) },
  ),
  declare(
    "@sortByAssociatedKeys",
    comparable.map(([name, key]) =>
      member(`list_${name}_sortByAssociatedKeys`, [list, args.listWhere(key)], listOf(T), sortByKeys),
    ),
    { overloadCost: ([, keys = null]) => selfCompare(keys) },
  ),
  declare("lists.range", [global("lists_range", [args.int], listOf(INT), range)], { overloadCost: byResult }),
  declare("reverse", [member("list_reverse", [list], listOf(T), reverse)], {
    overloadCost: (values, result, id) => (id === "list_reverse" ? byResult(values, result, id) : undefined),
  }),
  declare("distinct", [member("list_distinct", [list], listOf(T), distinct)], {
    overloadCost: ([items = null]) => selfCompare(items),
  }),
];

export const listsLibrary: Library = { name: "lists", functions, macros: "sorting" };
