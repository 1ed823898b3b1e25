import { RE2JS } from "re2js";

/** Compiled patterns, shared by all expressions: RE2 runs in linear time, so an attacker's pattern cannot hang. */
const cache = new Map<string, RE2JS | PatternProblem>();
const maxCached = 500;
/** A pattern compiles to a program that grows with its length and with nested repetition; longer ones are refused. */
const maxPatternLength = 10_000;

/** Why a pattern is not valid RE2. */
export class PatternProblem {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function compilePattern(pattern: string): RE2JS | PatternProblem {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  let compiled: RE2JS | PatternProblem;
  try {
    compiled =
      pattern.length > maxPatternLength
        ? new PatternProblem("error parsing regexp: expression is too long")
        : RE2JS.compile(pattern);
  } catch (error) {
    compiled = new PatternProblem(error instanceof Error ? error.message : "error parsing regexp");
  }
  if (cache.size >= maxCached) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}
