import { matching, prices, traverse } from "../cost-rules.ts";
import { args, declare, global, member, type FunctionDeclaration } from "../functions.ts";
import { PatternProblem, compilePattern } from "../regex.ts";
import { characterCount } from "../text.ts";
import { BOOL, INT, param } from "../types.ts";
import { CelError, mapSize, type Value } from "../values.ts";

function matches(text: string, pattern: string): Value {
  const compiled = compilePattern(pattern);
  return compiled instanceof PatternProblem ? new CelError(compiled.message) : compiled.matcher(text).find();
}

const listSize = (list: readonly Value[]): Value => list.length;
const byteSize = (bytes: Uint8Array): Value => bytes.length;
const walkFirst = ([text]: readonly Value[]): number => traverse(text, prices.character);
const list = args.list(param("A"));
const map = args.map(param("A"), param("B"));

export const stringFunctions: readonly FunctionDeclaration[] = [
  declare(
    "size",
    [
      global("size_bytes", [args.bytes], INT, byteSize),
      member("bytes_size", [args.bytes], INT, byteSize),
      global("size_list", [list], INT, listSize),
      member("list_size", [list], INT, listSize),
      global("size_map", [map], INT, mapSize),
      member("map_size", [map], INT, mapSize),
      global("size_string", [args.string], INT, characterCount),
      member("string_size", [args.string], INT, characterCount),
    ],
    { mismatch: "no such overload: size" },
  ),
  declare(
    "contains",
    [member("contains_string", [args.string, args.string], BOOL, (text, part) => text.includes(part))],
    { overloadCost: ([text, part]) => traverse(text) * traverse(part), mismatch: "no such overload" },
  ),
  declare(
    "endsWith",
    [member("ends_with_string", [args.string, args.string], BOOL, (text, part) => text.endsWith(part))],
    { overloadCost: walkFirst, mismatch: "no such overload" },
  ),
  declare(
    "startsWith",
    [member("starts_with_string", [args.string, args.string], BOOL, (text, part) => text.startsWith(part))],
    { overloadCost: walkFirst, mismatch: "no such overload" },
  ),
  declare(
    "matches",
    [
      global("matches", [args.string, args.string], BOOL, matches),
      member("matches_string", [args.string, args.string], BOOL, matches),
    ],
    {
      // The form `matches(text, pattern)` has the plain price of 1 in Kubernetes; only the method is priced by length.
      overloadCost: ([text, pattern], _result, id) => (id === "matches_string" ? matching(text, pattern) : undefined),
      mismatch: "no such overload",
    },
  ),
];
