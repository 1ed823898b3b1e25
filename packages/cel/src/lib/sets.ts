import { sizeOf } from "../cost-rules.ts";
import { celEquals } from "../equality.ts";
import { args, declare, global, type FunctionDeclaration } from "../functions.ts";
import type { Library } from "../library.ts";
import { BOOL, param } from "../types.ts";
import type { Value } from "../values.ts";
import { spend } from "../work.ts";

const list = args.list(param("T"));

const includes = (items: readonly Value[], wanted: Value): boolean => items.some((item) => celEquals(item, wanted));
const containsAll = (items: readonly Value[], part: readonly Value[]): boolean =>
  part.every((item) => includes(items, item));

function setFunction(
  name: string,
  factor: number,
  call: (a: readonly Value[], b: readonly Value[]) => boolean,
): FunctionDeclaration {
  const metered = (a: readonly Value[], b: readonly Value[]): boolean => {
    spend(a.length * b.length * factor);
    return call(a, b);
  };
  return declare(`sets.${name}`, [global(`list_sets_${name}_list`, [list, list], BOOL, metered)], {
    overloadCost: ([a = null, b = null]) => sizeOf(a) * sizeOf(b) * factor + 1,
  });
}

export const setsLibrary: Library = {
  name: "sets",
  functions: [
    setFunction("contains", 1, containsAll),
    setFunction("equivalent", 2, (a, b) => containsAll(a, b) && containsAll(b, a)),
    setFunction("intersects", 1, (a, b) => a.some((item) => includes(b, item))),
  ],
};
