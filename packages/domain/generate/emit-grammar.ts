import type { Pattern } from "../src/grammar/pattern.ts";
import { namespacePrefix } from "./naming.ts";
import type { GrammarElement, SimpleGrammar } from "./simplify.ts";

type Expression = number | string | Expression[];

/**
 * Writes the grammar as a table, one element per line: its name, a space, and its content as JSON. In there a number is
 * an element; `""` is empty; `"T"` any text; `"D3"` datatype 3; `"=a|b"` one of these values; `["@name", value]` an
 * attribute; `["?", x]`, `["*", x]` and `["+", x]` repeat; `["|", …]` is a choice, `[",", …]` a sequence, `["&", …]` any
 * order. The elements that begin each version come first.
 */
export function emitGrammar(grammar: SimpleGrammar, versions: readonly string[], header: string): string {
  const lines = grammar.elements.map((element) => `${qualified(element)} ${JSON.stringify(encode(element.content))}`);
  for (const [index, start] of grammar.starts.entries()) {
    if (start.kind !== "element" || start.index !== index) throw new Error("versions must differ and come first");
  }
  return [
    header,
    "/** Versions of libvirt whose schemas are here, newest first; element N of the table begins version N. */",
    `export const libvirtVersions: readonly string[] = ${JSON.stringify(versions)};`,
    `export const datatypeTable = ${JSON.stringify(JSON.stringify(grammar.datatypes))};`,
    "/** One element per line; parsed when first needed. */",
    `export const grammarTable: readonly string[] = [\n${lines.map((line) => `  ${quoted(line)},`).join("\n")}\n];`,
    "",
  ].join("\n");
}

function qualified({ name, namespace }: GrammarElement): string {
  return namespace === "" ? name : `${namespacePrefix(namespace)}:${name}`;
}

function quoted(text: string): string {
  return /['\\]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}

function encode(pattern: Pattern): Expression {
  const parts = () => pattern.parts.map(encode);
  switch (pattern.kind) {
    case "empty":
      return "";
    case "text":
      return "T";
    case "element":
      return pattern.index;
    case "value":
      return `=${checkedValue(pattern.name)}`;
    case "data":
      return `D${pattern.index}`;
    case "attribute":
      return [`@${pattern.name}`, ...parts()];
    case "oneOrMore":
      return ["+", ...parts()];
    case "choice":
      return encodeChoice(pattern.parts);
    case "group":
      return [",", ...parts()];
    case "interleave":
      return ["&", ...parts()];
    case "notAllowed":
      throw new Error("an impossible pattern should have been simplified away");
  }
  throw new Error(`there is no form for ${JSON.stringify(pattern)}`);
}

function encodeChoice(alternatives: readonly Pattern[]): Expression {
  const rest = alternatives.filter((alternative) => alternative.kind !== "empty");
  const values = rest.filter((alternative) => alternative.kind === "value");
  const others = rest.filter((alternative) => alternative.kind !== "value").map(encode);
  if (values.length > 0) others.unshift(`=${values.map((value) => checkedValue(value.name)).join("|")}`);
  const [first = ""] = others;
  const body = others.length === 1 ? first : ["|", ...others];
  if (rest.length === alternatives.length) return body;
  return Array.isArray(body) && body[0] === "+" ? ["*", ...body.slice(1)] : ["?", body];
}

function checkedValue(text: string): string {
  if (text.includes("|")) throw new Error(`the value ${text} has the character that separates values`);
  return text;
}
