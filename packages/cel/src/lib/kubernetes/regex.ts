import { matching } from "../../cost-rules.ts";
import { args, declare, member, type CallCost } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { PatternProblem, compilePattern } from "../../regex.ts";
import { STRING, listOf } from "../../types.ts";
import { CelError, type Value } from "../../values.ts";

const illegal = ({ message }: PatternProblem): CelError => new CelError(`Illegal regex: ${message}`);

function find(text: string, pattern: string): Value {
  const compiled = compilePattern(pattern);
  if (compiled instanceof PatternProblem) return illegal(compiled);
  const matcher = compiled.matcher(text);
  return matcher.find() ? (matcher.group() ?? "") : "";
}

function findAll(text: string, pattern: string, limit: number | bigint = -1): Value {
  const compiled = compilePattern(pattern);
  if (compiled instanceof PatternProblem) return illegal(compiled);
  const matcher = compiled.matcher(text);
  const found: string[] = [];
  const most = limit < 0 ? Number.POSITIVE_INFINITY : Number(limit);
  for (; found.length < most && matcher.find();) found.push(matcher.group() ?? "");
  return found;
}

const cost: CallCost = ([text, pattern]) => matching(text, pattern);

export const regexLibrary: Library = {
  name: "kubernetes.regex",
  functions: [
    declare("find", [member("string_find_string", [args.string, args.string], STRING, find)], {
      cost,
      mismatch: "no such overload",
    }),
    declare(
      "findAll",
      [
        member("string_find_all_string", [args.string, args.string], listOf(STRING), (text, pattern) =>
          findAll(text, pattern),
        ),
        member("string_find_all_string_int", [args.string, args.string, args.int], listOf(STRING), findAll),
      ],
      { cost, mismatch: "no such overload" },
    ),
  ],
};
