import { args, declare, global, member, type FunctionDeclaration } from "../functions.ts";
import type { Library } from "../library.ts";
import { Duration, Timestamp } from "../time.ts";
import { BOOL, DYN, listOf, optionalOf, param } from "../types.ts";
import { CelError, Double, Optional, StructValue, Uint, adapt, isMap, mapSize, type Value } from "../values.ts";

const V = param("V");
const optional = args.object(optionalOf(V), Optional);
const anything = args.any(V);

/** Whether a value is what its type starts out as: 0, "", an empty list and so on. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === "") return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Double || value instanceof Uint) return Number(value.value) === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.seconds === -62_135_596_800 && value.nanos === 0;
  if (value instanceof Optional) return value.value === undefined || isZero(value.value);
  if (value instanceof StructValue) return value.fields.size === 0;
  return isMap(value) && mapSize(value) === 0;
}

function unwrapAll(items: readonly Value[]): Value {
  const values: Value[] = [];
  for (const item of items) {
    if (!(item instanceof Optional)) return new CelError("value is not an optional");
    if (item.value !== undefined) values.push(item.value);
  }
  return values;
}

const at =
  (position: 0 | -1) =>
  (items: readonly Value[]): Value => {
    const item = adapt(items.at(position));
    return item === undefined ? Optional.none : new Optional(item);
  };

const free = (): number => 0;
const optionals = args.list(optionalOf(V));

const functions: readonly FunctionDeclaration[] = [
  declare("optional.of", [global("optional_of", [anything], optionalOf(V), (value) => new Optional(value))]),
  declare("optional.ofNonZeroValue", [
    global("optional_ofNonZeroValue", [anything], optionalOf(V), (value) =>
      isZero(value) ? Optional.none : new Optional(value),
    ),
  ]),
  declare("optional.none", [global("optional_none", [], optionalOf(V), () => Optional.none)]),
  declare("value", [
    member("optional_value", [optional], V, ({ value }) =>
      value === undefined ? new CelError("optional.none() dereference") : value,
    ),
  ]),
  declare("hasValue", [member("optional_hasValue", [optional], BOOL, ({ value }) => value !== undefined)]),
  // These two are built into the evaluator in Kubernetes and cost nothing.
  declare(
    "or",
    [
      member("optional_or_optional", [optional, optional], optionalOf(V), (first, second) =>
        first.value === undefined ? second : first,
      ),
    ],
    { cost: free },
  ),
  declare(
    "orValue",
    [
      member("optional_orValue_value", [optional, anything], V, ({ value }, otherwise) =>
        value === undefined ? otherwise : value,
      ),
      // What turns out not to be an optional at all is its own value.
      { ...member("optional_orValue_value", [anything, anything], V, (value) => value), params: [] },
    ],
    { cost: free },
  ),
  declare("first", [member("list_first", [args.list(V)], optionalOf(V), at(0))]),
  declare("last", [member("list_last", [args.list(V)], optionalOf(V), at(-1))]),
  declare("optional.unwrap", [global("optional_unwrap", [optionals], listOf(V), unwrapAll)]),
  declare("unwrapOpt", [member("optional_unwrapOpt", [optionals], listOf(V), unwrapAll)]),
];

export const optionalsLibrary: Library = {
  name: "optionals",
  functions,
  macros: "optionals",
  types: { optional_type: optionalOf(DYN) },
};
