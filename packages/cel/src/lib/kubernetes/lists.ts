import { traverseDeeply } from "../../cost-rules.ts";
import { celEquals } from "../../equality.ts";
import { args, declare, member, type CallCost, type FunctionDeclaration, type Param } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { add } from "../../stdlib/arithmetic.ts";
import { compareValues } from "../../stdlib/comparison.ts";
import { Duration } from "../../time.ts";
import { BOOL, INT, param } from "../../types.ts";
import { CelError, Double, Uint, type Value } from "../../values.ts";

const comparable: readonly [string, Param<Value>][] = [
  ["int", args.int],
  ["uint", args.uint],
  ["double", args.double],
  ["bool", args.bool],
  ["duration", args.duration],
  ["timestamp", args.timestamp],
  ["string", args.string],
  ["bytes", args.bytes],
];

const summable: readonly [string, Param<Value>, () => Value][] = [
  ["int", args.int, () => 0],
  ["uint", args.uint, () => new Uint(0)],
  ["double", args.double, () => new Double(0)],
  ["duration", args.duration, () => Duration.of(0n) ?? 0],
];

function sum(items: readonly Value[], zero: () => Value): Value {
  return items.reduce((total, item) => add(total, item), zero());
}

function isSorted(items: readonly Value[]): Value {
  for (let index = 1; index < items.length; index += 1) {
    const order = compareValues(items[index - 1] ?? null, items[index] ?? null);
    if (order instanceof CelError) return order;
    if (order > 0) return false;
  }
  return true;
}

function extreme(name: "min" | "max", items: readonly Value[]): Value {
  const [first, ...rest] = items;
  if (first === undefined) return new CelError(`${name} called on empty list`);
  let best = first;
  for (const item of rest) {
    const order = compareValues(best, item);
    if (order instanceof CelError) return order;
    if (name === "min" ? order > 0 : order < 0) best = item;
  }
  return best;
}

const cost: CallCost = ([items = null]) => traverseDeeply(items);
const element = args.any(param("A"));
const list = args.list(param("A"));

const functions: readonly FunctionDeclaration[] = [
  declare(
    "isSorted",
    comparable.map(([name, type]) => member(`list_${name}_is_sorted_bool`, [args.listWhere(type)], BOOL, isSorted)),
    { cost },
  ),
  declare(
    "sum",
    summable.map(([name, type, zero]) =>
      member(`list_${name}_sum_${name}`, [args.listWhere(type)], type.type, (items) => sum(items, zero)),
    ),
    { cost },
  ),
  ...(["min", "max"] as const).map((name) =>
    declare(
      name,
      comparable.map(([type, { accepts, type: result }]) =>
        member(`list_${type}_${name}_${type}`, [args.listWhere({ accepts, type: result })], result, (items) =>
          extreme(name, items),
        ),
      ),
      { cost },
    ),
  ),
  declare(
    "indexOf",
    [
      member("list_a_index_of_int", [list, element], INT, (items, wanted) =>
        items.findIndex((item) => celEquals(item, wanted)),
      ),
    ],
    { cost },
  ),
  declare(
    "lastIndexOf",
    [
      member("list_a_last_index_of_int", [list, element], INT, (items, wanted) =>
        items.findLastIndex((item) => celEquals(item, wanted)),
      ),
    ],
    { cost },
  ),
];

export const kubernetesListsLibrary: Library = { name: "kubernetes.lists", functions };
