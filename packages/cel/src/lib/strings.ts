import { traverse, traverseDeeply } from "../cost-rules.ts";
import { args, declare, global, member, type FunctionDeclaration } from "../functions.ts";
import type { Library } from "../library.ts";
import { charactersOf, isSimple } from "../text.ts";
import { DYN, INT, STRING, listOf } from "../types.ts";
import { CelError, type Value } from "../values.ts";
import { spend } from "../work.ts";
import { formatClassic, formatModern } from "./format-string.ts";

type Int = number | bigint;

const outOfRange = (index: Int): CelError => new CelError(`index out of range: ${index}`);

function charAt(text: string, index: Int): Value {
  const characters = charactersOf(text);
  const position = Number(index);
  return position < 0 || position > characters.length ? outOfRange(index) : (characters[position] ?? "");
}

/** `find` works on UTF-16 units; positions in and out of CEL are characters. */
function indexOf(text: string, part: string, offset: Int = 0): Value {
  const start = Number(offset);
  if (part === "") return offset;
  if (start < 0) return outOfRange(offset);
  if (isSimple(text)) return text.indexOf(part, start);
  return findCharacters(charactersOf(text), charactersOf(part), start, 1);
}

function lastIndexOf(text: string, part: string, offset?: Int): Value {
  const characters = charactersOf(text);
  if (part === "") return offset ?? characters.length;
  if (offset === undefined) return findCharacters(characters, charactersOf(part), characters.length - 1, -1);
  const start = Number(offset);
  if (start < 0) return outOfRange(offset);
  return start >= characters.length ? -1 : findCharacters(characters, charactersOf(part), start, -1);
}

function findCharacters(text: readonly string[], part: readonly string[], start: number, step: 1 | -1): number {
  const last = text.length - part.length;
  let position = step === -1 ? Math.min(start, last) : start;
  for (; position >= 0 && position <= last; position += step) {
    if (part.every((character, index) => text[position + index] === character)) return position;
  }
  return -1;
}

function substring(text: string, start: Int, end?: Int): Value {
  const characters = charactersOf(text);
  const from = Number(start);
  const to = end === undefined ? characters.length : Number(end);
  if (end !== undefined && from > to) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (from < 0 || from > characters.length) return outOfRange(start);
  if (to < 0 || to > characters.length) return outOfRange(end ?? 0);
  return characters.slice(from, to).join("");
}

function replace(text: string, old: string, replacement: string, count: Int = -1): Value {
  const limit = count < 0 ? Number.POSITIVE_INFINITY : Number(count);
  if (old !== "") {
    const parts = text.split(old);
    spend(text.length + Math.min(parts.length - 1, limit) * replacement.length);
    return [parts.slice(0, limit + 1).join(replacement), ...parts.slice(limit + 1)].join(old);
  }
  // Nothing is found before every character and at the end.
  const characters = [...charactersOf(text), ""];
  spend(text.length + Math.min(characters.length, limit) * replacement.length);
  return characters.map((character, index) => (index < limit ? replacement + character : character)).join("");
}

function split(text: string, separator: string, count: Int = -1): Value {
  const limit = Number(count);
  if (limit === 0) return [];
  const parts = separator === "" ? [...charactersOf(text)] : text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function join(parts: readonly Value[], separator?: string): Value {
  const bad = parts.find((part) => typeof part !== "string");
  if (bad !== undefined)
    return new CelError(`no such overload: join(list${separator === undefined ? "" : ", string"})`);
  const texts = parts.map((part) => (typeof part === "string" ? part : ""));
  spend(texts.reduce((total, part) => total + part.length + (separator ?? "").length, 0));
  return texts.join(separator ?? "");
}

// Only ASCII letters change; a regular expression leaves everything else alone.
const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
/** What Unicode calls White_Space; JavaScript's `trim` differs by U+0085 and U+FEFF. */
const space = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const edges = new RegExp(`^${space}|${space}$`, "g");
const trim = (text: string): string => text.replace(edges, "");
const reverse = (text: string): string => [...charactersOf(text)].reverse().join("");

const escapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

function quote(text: string): Value {
  // Half of a surrogate pair is no character; it becomes U+FFFD.
  const whole = text.replace(/\p{Surrogate}/gu, "\ufffd");
  // oxlint-disable-next-line no-control-regex -- control characters are what has to be escaped
  return `"${whole.replace(/[\u0007-\r"\\]/g, (character) => escapes[character] ?? character)}"`;
}

const once = ([text]: readonly Value[]): number => traverse(text);
const twice = ([text]: readonly Value[]): number => traverse(text, 0.2);
const scan = ([text = null]: readonly Value[]): number => traverseDeeply(text);

const basic: readonly FunctionDeclaration[] = [
  declare("charAt", [member("string_char_at_int", [args.string, args.int], STRING, charAt)]),
  declare(
    "indexOf",
    [
      member("string_index_of_string", [args.string, args.string], INT, (text, part) => indexOf(text, part)),
      member("string_index_of_string_int", [args.string, args.string, args.int], INT, indexOf),
    ],
    { cost: scan },
  ),
  declare(
    "lastIndexOf",
    [
      member("string_last_index_of_string", [args.string, args.string], INT, (text, part) => lastIndexOf(text, part)),
      member("string_last_index_of_string_int", [args.string, args.string, args.int], INT, lastIndexOf),
    ],
    { cost: scan },
  ),
  declare("lowerAscii", [member("string_lower_ascii", [args.string], STRING, lowerAscii)], { cost: once }),
  declare(
    "replace",
    [
      member("string_replace_string_string", [args.string, args.string, args.string], STRING, (text, old, by) =>
        replace(text, old, by),
      ),
      member("string_replace_string_string_int", [args.string, args.string, args.string, args.int], STRING, replace),
    ],
    { cost: twice },
  ),
  declare(
    "split",
    [
      member("string_split_string", [args.string, args.string], listOf(STRING), (text, by) => split(text, by)),
      member("string_split_string_int", [args.string, args.string, args.int], listOf(STRING), split),
    ],
    { cost: twice },
  ),
  declare(
    "substring",
    [
      member("string_substring_int", [args.string, args.int], STRING, (text, start) => substring(text, start)),
      member("string_substring_int_int", [args.string, args.int, args.int], STRING, substring),
    ],
    { cost: once },
  ),
  declare("trim", [member("string_trim", [args.string], STRING, trim)], { cost: once }),
  declare("upperAscii", [member("string_upper_ascii", [args.string], STRING, upperAscii)], { cost: once }),
];

const joining: FunctionDeclaration = declare(
  "join",
  [
    member("list_join", [args.list(STRING)], STRING, (parts) => join(parts)),
    member("list_join_string", [args.list(STRING), args.string], STRING, join),
  ],
  { cost: (_values, result) => traverse(result, 0.2) },
);

const quoting: readonly FunctionDeclaration[] = [
  declare("strings.quote", [global("strings_quote", [args.string], STRING, quote)], { overloadCost: once }),
];

const formatting = (format: (template: string, values: readonly Value[]) => Value): FunctionDeclaration =>
  declare("format", [member("string_format", [args.string, args.list(DYN)], STRING, format)], { overloadCost: once });

const reversing: FunctionDeclaration = declare("reverse", [member("string_reverse", [args.string], STRING, reverse)]);

/** The string functions by version of cel-go's library; Kubernetes has version 2. */
export function stringsLibrary(version: 0 | 1 | 2 | 3 | 4 = 4): Library {
  return {
    name: `strings.v${version}`,
    functions: [
      ...basic,
      joining,
      ...(version >= 1 ? [...quoting, formatting(version >= 4 ? formatModern : formatClassic)] : []),
      ...(version >= 3 ? [reversing] : []),
    ],
  };
}
