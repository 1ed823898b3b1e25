import { describeDatatype } from "../grammar/datatype.ts";
import type { Grammar } from "../grammar/grammar.ts";
import type { Pattern } from "../grammar/pattern.ts";

/** What texts some patterns allow: the named values, and in words what else. */
export function allowedTexts(patterns: readonly Pattern[], grammar: Grammar): { values: string[]; words: string[] } {
  const values = new Set<string>();
  const words = new Set<string>();
  const collect = (pattern: Pattern) => {
    if (pattern.kind === "value") values.add(pattern.name);
    else if (pattern.kind === "text") words.add("text");
    else if (pattern.kind === "data") {
      const datatype = grammar.datatypes[pattern.index];
      if (datatype !== undefined) words.add(describeDatatype(datatype));
    } else if (pattern.kind !== "attribute" && pattern.kind !== "element") {
      for (const part of pattern.parts) collect(part);
    }
  };
  for (const pattern of patterns) collect(pattern);
  return { values: [...values], words: [...words] };
}

/** `must be one of a, b or an integer from 0 to 7, not "x"` */
export function describeText(allowed: { values: string[]; words: string[] }, text: string): string {
  const named = allowed.values.map((value) => JSON.stringify(value)).join(", ");
  const one = allowed.values.length === 1 ? named : `one of ${named}`;
  const choices = [...(allowed.values.length === 0 ? [] : [one]), ...allowed.words].join(" or ");
  return choices === "" ? "must have no text" : `must be ${choices}, not ${JSON.stringify(shorten(text))}`;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * What is missing for a pattern to match nothing more: `target`, `file or dev`. `undefined` when nothing is. `what` says
 * whether attributes or elements are asked for, `nameOf` how one is called in the model.
 */
export function missing(
  pattern: Pattern,
  what: "attribute" | "element",
  nameOf: (leaf: Pattern) => string,
): string | undefined {
  if (pattern.kind === what) return nameOf(pattern);
  if (pattern.kind === "choice") {
    const alternatives = new Set<string>();
    for (const part of pattern.parts) {
      const needed = missing(part, what, nameOf);
      if (needed === undefined) return undefined;
      alternatives.add(needed);
    }
    return [...alternatives].join(" or ");
  }
  if (pattern.kind === "attribute") return undefined;
  const all = new Set<string>();
  for (const part of pattern.parts) {
    const needed = missing(part, what, nameOf);
    if (needed !== undefined) all.add(needed);
  }
  return all.size === 0 ? undefined : [...all].join(" and ");
}
