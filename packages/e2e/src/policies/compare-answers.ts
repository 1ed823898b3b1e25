import { comparable } from "../conformance/transcript.ts";
import type { PolicyCase } from "./policy-case.ts";

/** What one server said: for each case, one entry per request. */
export type Answers = ReadonlyMap<string, readonly string[]>;

export interface Difference {
  readonly id: string;
  readonly request: string;
  /** `-` as Kubernetes says it, `+` as the embedded server does. */
  readonly lines: readonly string[];
}

/** Every request to which the two servers said something else. */
export function differences(kubernetes: Answers, embedded: Answers): Difference[] {
  const ids = new Set([...kubernetes.keys(), ...embedded.keys()]);
  return [...ids].flatMap((id) => {
    const [theirs, ours] = [kubernetes.get(id) ?? [], embedded.get(id) ?? []];
    const count = Math.max(theirs.length, ours.length);
    return Array.from({ length: count }, (_, index) => difference(id, theirs[index] ?? "", ours[index] ?? "")).flat();
  });
}

function difference(id: string, theirs: string, ours: string): Difference[] {
  const [request = "", ...expected] = inOwnWords(theirs).split("\n");
  const [, ...actual] = inOwnWords(ours).split("\n");
  if (expected.join("\n") === actual.join("\n")) return [];
  const lines = [
    ...expected.filter((line) => !actual.includes(line)).map((line) => `- ${line}`),
    ...actual.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`),
  ];
  return [{ id, request, lines: lines.length === 0 ? ["(the same lines in another order)"] : lines }];
}

/** Where the parser stops first is compared, not how it puts it or goes on: that comes out of a parser generator. */
export function inOwnWords(entry: string): string {
  const withoutWords = comparable(entry).replaceAll(/Syntax error: .*?(?=\\n \|)/g, "Syntax error");
  return withoutWords.replaceAll(
    /(Syntax error\\n \|.*?\\n \| \.*\^)(\\nERROR: <input>:\d+:\d+: Syntax error\\n \|.*?\\n \| \.*\^)+/g,
    "$1",
  );
}

/** Answers of one server that are not what they should be. */
export function unexpected(cases: readonly PolicyCase[], answers: Answers): Difference[] {
  return cases.flatMap(({ id, expects = [] }) => {
    // The answers about the policies come first.
    const said = (answers.get(id) ?? []).slice(-expects.length);
    return expects.flatMap((expected, index) => {
      const [request = "", ...lines] = (said[index] ?? "").split("\n");
      return expected.test(lines.join("\n")) ? [] : [{ id, request, lines: [`expected ${expected}`, ...lines] }];
    });
  });
}

/** How much the answers say: a comparison of servers that refuse everything would prove nothing. */
export function tally(answers: Answers): Readonly<Record<"requests" | "allowed" | "refused" | "warned", number>> {
  const entries = [...answers.values()].flat();
  const count = (pattern: RegExp): number => entries.filter((entry) => pattern.test(entry)).length;
  return {
    requests: entries.length,
    allowed: count(/^.*\n2/),
    refused: count(/^.*\n4/),
    warned: count(/\n299 /),
  };
}
