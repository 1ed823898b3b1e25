import { RE2JS } from "re2js";

/** Compiled patterns, shared by all expressions: RE2 runs in linear time, so an attacker's pattern cannot hang. */
const cache = new Map<string, RE2JS | undefined>();
const maxCached = 500;
/** A pattern compiles to a program that grows with its length and with nested repetition; longer ones are refused. */
const maxPatternLength = 10_000;

/** The compiled pattern, or undefined when it is not valid RE2. */
export function compilePattern(pattern: string): RE2JS | undefined {
  if (cache.has(pattern)) return cache.get(pattern);
  let compiled: RE2JS | undefined;
  try {
    compiled = pattern.length > maxPatternLength ? undefined : RE2JS.compile(pattern);
  } catch {
    compiled = undefined;
  }
  if (cache.size >= maxCached) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}
