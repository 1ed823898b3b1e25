import { describe, expect, it } from "vitest";
import { kubernetesEnvironment } from "./kube/kubernetes-environment.ts";
import { bindingsLibrary } from "./lib/macro-libraries.ts";
import { DYN } from "./types.ts";
import { toJson } from "./values.ts";

const environment = kubernetesEnvironment({ variables: { x: DYN, l: DYN, s: DYN }, libraries: [bindingsLibrary] });

/** Compiles and runs; everything hostile must end in one of these. That it ends soon shows in that these tests end. */
function outcome(source: string, bindings: Record<string, unknown> = {}): string {
  const compiled = environment.tryCompile(source);
  if (!compiled.ok) return `issue: ${compiled.issues[0]?.message ?? ""}`;
  const result = compiled.program.run(bindings);
  return result.ok ? "value" : `${result.failure.kind}: ${result.failure.message}`;
}

const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe("hostile input", { timeout: 60_000 }, () => {
  it.each([
    ["brackets", "(".repeat(20_000) + "1" + ")".repeat(20_000)],
    ["open brackets", "(".repeat(20_000)],
    ["lists", "[".repeat(20_000) + "]".repeat(20_000)],
    ["maps", "{1:".repeat(20_000) + "1" + "}".repeat(20_000)],
    ["negations", "!".repeat(20_001) + "true"],
    ["conditions in conditions", "true ? ".repeat(20_000) + "1" + " : 1".repeat(20_000)],
    ["calls in calls", "size(".repeat(20_000) + "x" + ")".repeat(20_000)],
  ])("deep nesting of %s is refused or harmless", (_name, source) => {
    const result = outcome(source);
    expect(
      result === "value" ||
        /^issue: .*(recursion limit exceeded|unexpected|nested deeper|size exceeds limit)/.test(result),
    ).toBe(true);
  });

  it.each([
    ["sums", Array.from({ length: 20_000 }, () => "1").join("+")],
    ["selections", `x${".a".repeat(20_000)}`],
    ["indexes", `x${"[0]".repeat(20_000)}`],
    ["methods", `x${".size()".repeat(10_000)}`],
    ["comparisons", Array.from({ length: 20_000 }, () => "1").join("<")],
  ])("20,000 %s on top of each other are refused", (_name, source) => {
    expect(outcome(source)).toMatch(/^issue: expression is nested deeper than 1000 operators/);
  });

  it("takes long conditions, which are flat", () => {
    expect(outcome(Array.from({ length: 15_000 }, () => "true").join("&&"))).toBe("value");
  });

  it("refuses sources that are too long", () => {
    expect(outcome(`'${"a".repeat(100_001)}'`)).toMatch(/^issue: expression code point size exceeds limit/);
  });

  it.each([
    ["comprehensions in comprehensions", "l.all(a, l.all(b, l.all(c, l.all(d, a + b + c + d >= 0))))"],
    ["growing lists", "l.map(a, l.map(b, l.map(c, [a, b, c])))"],
    [
      "growing text",
      "cel.bind(a, s + s + s + s, cel.bind(b, a + a + a + a, cel.bind(c, b + b + b + b, c + c + c + c))) == ''",
    ],
    ["patterns over text", "l.exists(a, s.matches('(a*)*b'))"],
    ["searches in text", "l.exists(a, s.contains('b'))"],
    ["replacing by much", "s.replace('a', s).replace('a', s).replace('a', s) == ''"],
    ["ranges", "lists.range(1000000000).size() == 1"],
    ["sorting what was repeated", "lists.range(100000).sort().size() == 1"],
    ["distinct values", "lists.range(100000).distinct().size() == 1"],
    ["joining what was repeated", "lists.range(100000).map(a, s).join(s) == ''"],
  ])("%s end at the limit", (_name, source) => {
    const bindings = { l: numbers(1_000), s: "a".repeat(100_000) };
    expect(outcome(source, bindings)).toMatch(/^cost: operation cancelled: actual cost limit exceeded/);
  });

  it("cannot double a list for ever", () => {
    const doubling = Array.from({ length: 60 }, (_, index) => `cel.bind(v${index + 1}, v${index} + v${index}, `);
    const source = `cel.bind(v0, [1, 2, 3], ${doubling.join("")}v60.size()${")".repeat(61)}`;
    expect(outcome(source)).toMatch(/^cost: /);
  });

  it("cannot compare deep structures for free", () => {
    const wide = numbers(100_000);
    const source = "l.exists(a, x == [s])";
    const bindings = { x: [wide], s: [...wide], l: numbers(1_000) };
    expect(outcome(source, bindings)).toMatch(/^(?:cost: |value)/);
  });

  it("stops at patterns that would be too large", () => {
    expect(outcome("s.matches(s)", { s: "(a{1000}){1000}" })).toMatch(/^error: error parsing regexp/);
    expect(outcome("'a'.matches(s)", { s: "a".repeat(20_000) })).toMatch(/^error: error parsing regexp/);
    expect(outcome("s.matches('^(a|a)*$')", { s: `${"a".repeat(5_000)}b` })).toBe("value");
  });

  it("takes strings that are no text", () => {
    expect(outcome("s.size() == 1 && s + s != s && s.lowerAscii() == s", { s: "\ud800" })).toBe("value");
    expect(outcome("'\ud83d'")).toBe("value");
  });
});

describe("JavaScript does not leak", () => {
  const names = [
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "length",
    "map",
    "prototype",
    "__defineGetter__",
  ];

  it.each(names)("%s is an unknown field like any other", (name) => {
    expect(outcome(`x.${name}`, { x: {} })).toBe(`error: no such key: ${name}`);
    expect(outcome(`x['${name}']`, { x: {} })).toBe(`error: no such key: ${name}`);
    expect(outcome(`has(x.${name})`, { x: {} })).toBe("value");
    expect(environment.compile(`has(x.${name})`).evaluate({ x: {} })).toBe(false);
    expect(environment.compile(`'${name}' in x`).evaluate({ x: {} })).toBe(false);
    expect(environment.compile(`x.?${name}.hasValue()`).evaluate({ x: {} })).toBe(false);
  });

  it.each(names)("%s can be the name of data", (name) => {
    const x = JSON.parse(`{"${name}": {"a": 1}}`) as object;
    expect(environment.compile(`x.${name}.a == 1 && has(x.${name}) && '${name}' in x`).evaluate({ x })).toBe(true);
    expect(environment.compile(`{'${name}': 1}.${name} == 1`).evaluate({})).toBe(true);
    expect(JSON.stringify(toJson(environment.compile("x.transformMap(k, v, v)").evaluate({ x })))).toBe(
      JSON.stringify(x),
    );
  });

  // `map` is the name of a type.
  it.each(names.filter((name) => name !== "map"))("%s is no variable, function or type", (name) => {
    expect(outcome(name)).toMatch(/^issue: undeclared reference/);
    expect(outcome(`${name}(x)`)).toMatch(/^issue: undeclared reference/);
    expect(outcome(`${name}{}`)).toMatch(/^issue: undeclared reference/);
  });

  it("gives fields of lists, text and bytes to nobody", () => {
    const sources = ["l.length", "l.push", "s.length", "s.trim", "x.byteLength"];
    const outcomes = sources.map((source) => outcome(source, { l: [1], s: "a", x: new Uint8Array(1) }));
    expect(outcomes.filter((result) => !result.startsWith("error: "))).toEqual([]);
  });

  it("hides functions and symbols in data", () => {
    const x = { call: () => 1, symbol: Symbol("x"), nothing: undefined };
    for (const field of Object.keys(x)) expect(outcome(`x.${field}`, { x })).toBe(`error: no such key: ${field}`);
    expect(outcome("l[0]", { l: [() => 1] })).toBe("error: index out of bounds: 0");
  });

  it("does not read variables that are not the caller's own", () => {
    const bindings = Object.create({ x: 1 }) as Record<string, unknown>;
    expect(outcome("x", bindings)).toBe("error: no such attribute(s): x");
  });
});
