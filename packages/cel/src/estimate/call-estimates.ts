import { prices } from "../cost-rules.ts";
import type { Type } from "../types.ts";
import { exactly, plus, priced, times, unbounded, type Bounds } from "./bounds.ts";

/** An operand of a call, as far as it is known before running. */
export interface Operand {
  readonly size: Bounds | undefined;
  readonly type: Type;
  /** The sizes of the elements, if the operand is a list. */
  readonly elementSize: Bounds | undefined;
  /** The value of an int literal. */
  readonly literalInt: number | undefined;
}

export interface CallEstimate {
  readonly cost: Bounds;
  readonly size?: Bounds;
}

/** Operands in order, the target first. */
type Estimate = (operands: readonly Operand[], overloadId: string) => CallEstimate | undefined;

const sizeOf = (operand: Operand | undefined): Bounds => operand?.size ?? unbounded;
const one = (): CallEstimate => ({ cost: exactly(1) });
const walk = (size: Bounds, factor: number = prices.character): Bounds => priced(size, factor);

const scan: Estimate = ([target]) => {
  if (target === undefined) return undefined;
  if (target.type.kind === "string" || target.type.kind === "dyn") return { cost: walk(sizeOf(target)) };
  const element = target.type.kind === "list" ? target.type.element.kind : "dyn";
  const isText = element === "string" || element === "bytes";
  const each = isText ? plus(exactly(1), walk(target.elementSize ?? unbounded)) : exactly(1);
  return { cost: times(sizeOf(target), each) };
};

const keepSize: Estimate = ([operand]) => ({ cost: walk(sizeOf(operand)), size: sizeOf(operand) });
const parse: Estimate = ([operand]) => ({ cost: walk(sizeOf(operand)) });

const replace: Estimate = ([target, old, replacement]) => {
  if (target === undefined || old === undefined || replacement === undefined) return undefined;
  const [text, from, to] = [sizeOf(target), sizeOf(old), sizeOf(replacement)];
  const most =
    from.min === 0
      ? { count: text.max + 1, kept: text.max }
      : to.max <= from.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / from.min), kept: 0 };
  const least =
    from.max === 0
      ? { count: text.min + 1, kept: text.min }
      : from.max <= to.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / from.max), kept: 0 };
  const size = plus(times({ min: least.count, max: most.count }, to), { min: least.kept, max: most.kept });
  return { cost: walk(text, 0.2), size };
};

const split: Estimate = ([target, , limit]) => {
  const text = sizeOf(target);
  return { cost: walk(text, 0.2), size: { min: 0, max: limit?.literalInt ?? text.max } };
};

const join: Estimate = ([list, separator]) => {
  if (list === undefined) return undefined;
  const count = sizeOf(list);
  const parts = list.type.kind === "list" ? times(count, list.elementSize ?? unbounded) : exactly(0);
  const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const size = separator === undefined ? parts : plus(parts, times(sizeOf(separator), gaps));
  return { cost: walk(size), size };
};

const search: Estimate = ([text, pattern]) => {
  const size = sizeOf(text);
  const cost = times(walk(plus(size, exactly(1))), walk(sizeOf(pattern), prices.patternCharacter));
  return { cost, size: { min: 0, max: size.max } };
};

const address = { min: 4, max: 16 };

const containing =
  (textOverload: string, extra: Bounds): Estimate =>
  ([, other], id) => {
    const compared = plus(walk(plus(address, address)), extra);
    return { cost: id === textOverload ? plus(compared, walk(sizeOf(other))) : compared };
  };

const selector: Estimate = ([, text]) => {
  const size = sizeOf(text);
  return { cost: plus(exactly(prices.list), walk(size), priced(walk(size, 0.5), prices.list + prices.struct)) };
};

/** Functions that Kubernetes prices by name. */
const byFunction: Readonly<Record<string, Estimate>> = {
  check: () => ({ cost: exactly(350_000) }),
  fieldSelector: selector,
  labelSelector: selector,
  isSorted: scan,
  sum: scan,
  max: scan,
  min: scan,
  indexOf: scan,
  lastIndexOf: scan,
  url: keepSize,
  "jsonpatch.escapeKey": keepSize,
  lowerAscii: keepSize,
  upperAscii: keepSize,
  substring: keepSize,
  trim: keepSize,
  replace,
  split,
  join,
  find: search,
  findAll: search,
  cidr: parse,
  isIP: parse,
  isCIDR: parse,
  ip: (operands, id) => (id === "cidr_ip" ? one() : parse(operands, id)),
  "ip.isCanonical": ([text]) => ({ cost: walk(sizeOf(text), 0.2) }),
  containsIP: containing("cidr_contains_ip_string", exactly(0)),
  containsCIDR: containing("cidr_contains_cidr_string", plus(walk(address), exactly(1))),
  quantity: parse,
  isQuantity: parse,
  semver: parse,
  isSemver: parse,
  validate: ([, text]) => ({ cost: priced(walk(sizeOf(text)), 128 * prices.patternCharacter) }),
};

const allocating = (factor: number, size: Bounds): CallEstimate => ({
  cost: plus(priced(size, factor), exactly(1 + prices.list)),
  size,
});
const isText = (operand: Operand | undefined): boolean =>
  operand?.type.kind === "list" && ["string", "bytes"].includes(operand.type.element.kind);
const square = (size: Bounds): Bounds => times(size, size);
const sets =
  (factor: number): Estimate =>
  ([a, b]) => ({ cost: plus(priced(times(sizeOf(a), sizeOf(b)), factor), exactly(1)) });

/** Overloads that cel-go's libraries price. */
const byOverload: Readonly<Record<string, Estimate>> = {
  list_slice: ([list, start, end]) => {
    const length = (end?.literalInt ?? sizeOf(list).max) - (start?.literalInt ?? 0);
    return allocating(1, exactly(Math.max(0, length)));
  },
  list_flatten: ([list]) => allocating(1, sizeOf(list)),
  list_flatten_int: ([list, depth]) => allocating(depth?.literalInt ?? Number.POSITIVE_INFINITY, sizeOf(list)),
  lists_range: ([count]) => allocating(1, exactly(count?.literalInt ?? Number.POSITIVE_INFINITY)),
  list_reverse: ([list]) => allocating(1, sizeOf(list)),
  list_distinct: ([list]) => allocating(2, square(sizeOf(list))),
  list_sets_contains_list: sets(1),
  list_sets_intersects_list: sets(1),
  list_sets_equivalent_list: sets(2),
};

const sorting = /^list_.*_sort(?:ByAssociatedKeys)?$/;

/** The standard functions whose price depends on sizes. */
function standard(overloadId: string, operands: readonly Operand[]): CallEstimate | undefined {
  const [first, second] = operands;
  const [a, b] = [sizeOf(first), sizeOf(second)];
  switch (overloadId) {
    case "string_format":
      return { cost: walk(a) };
    case "string_to_bytes":
      return { cost: walk(a), size: { min: a.min, max: a.max * 4 } };
    case "bytes_to_string":
      return { cost: walk(a), size: { min: Math.floor(a.min / 4), max: a.max } };
    case "strings_quote":
      return { cost: walk(a), size: { min: a.min + 2, max: a.max * 2 + 2 } };
    // Kubernetes looks at the length of the argument here, and at that of the target when it runs.
    case "starts_with_string":
    case "ends_with_string":
      return { cost: walk(b) };
    case "in_list":
      return { cost: priced(b, 1) };
    case "matches_string":
      return { cost: times(walk(plus(a, exactly(1))), walk(b, prices.patternCharacter)) };
    case "contains_string":
      return { cost: times(walk(a), walk(b)) };
    case "add_string":
    case "add_bytes":
      return { cost: walk(plus(a, b)), size: plus(a, b) };
    case "add_list":
      return { cost: exactly(1), size: plus(a, b) };
    default:
      return undefined;
  }
}

const comparing = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|(?:not_)?equals)$/;

export function estimateCall(name: string, overloadId: string, operands: readonly Operand[]): CallEstimate {
  const listed = Object.hasOwn(byOverload, overloadId) ? byOverload[overloadId]?.(operands, overloadId) : undefined;
  if (listed !== undefined) return listed;
  if (sorting.test(overloadId)) {
    const keys = overloadId.endsWith("_sort") ? operands[0] : operands[1];
    return allocating(isText(keys) ? 2 + prices.character : 2, square(sizeOf(keys)));
  }
  const named = Object.hasOwn(byFunction, name) ? byFunction[name]?.(operands, overloadId) : undefined;
  if (named !== undefined) return named;
  if (comparing.test(overloadId)) return { cost: comparison(name, operands) };
  return standard(overloadId, operands) ?? one();
}

function comparison(name: string, operands: readonly Operand[]): Bounds {
  const [left, right] = operands;
  const special = /^(?:kubernetes\.|net\.)/;
  const [a, b] = [left?.type, right?.type];
  if (name === "_==_" && a?.kind === "opaque" && b?.kind === "opaque" && special.test(a.name)) return exactly(1);
  const shorter = Math.min(sizeOf(left).max, sizeOf(right).max);
  return walk({ min: shorter > 0 ? 1 : 0, max: shorter });
}
