import { jsonEqual } from "@polyvirt/core";
import { describe, expect, it } from "vitest";
import vectors from "../../testdata/kubernetes-vectors.json" with { type: "json" };
import { kubernetesEnvironment } from "../kube/kubernetes-environment.ts";
import { BOOL, BYTES, DOUBLE, DYN, INT, STRING, formatType, listOf, mapOf, type Type } from "../types.ts";
import { Double, Uint, isMap, mapGet, mapKeys, typeNameOf, type Value } from "../values.ts";

/** What Kubernetes said about an expression; the file is made by testdata/oracle. */
interface KubernetesVector {
  readonly expr: string;
  readonly types?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly issue?: string;
  readonly err?: string;
  readonly value?: unknown;
  readonly cost?: number;
  readonly estMin?: string;
  readonly estMax?: string;
}

const types: Readonly<Record<string, Type>> = {
  string: STRING,
  int: INT,
  bool: BOOL,
  double: DOUBLE,
  bytes: BYTES,
  "list(string)": listOf(STRING),
  "list(int)": listOf(INT),
  "map(string,dyn)": mapOf(STRING, DYN),
};

/** A value in the notation of the oracle. */
function describeValue(value: Value): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" || typeof value === "bigint") return { int: String(value) };
  if (value instanceof Uint) return { uint: String(value.value) };
  if (value instanceof Double) return { double: Number.isFinite(value.value) ? value.value : goDouble(value.value) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return value.map((item: Value) => describeValue(item));
  // The oracle prints values of other types in Go's notation, which says no more than their type.
  if (!isMap(value)) return { other: typeNameOf(value) };
  const keyText = (key: Value): string => (typeof key === "object" ? JSON.stringify(key) : String(key));
  return {
    map: Object.fromEntries(mapKeys(value).map((key) => [keyText(key), describeValue(mapGet(value, key) ?? null)])),
  };
}

const goDouble = (value: number): string => (Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");

function kubernetesType(type: Type): string {
  return formatType(type)
    .replaceAll("timestamp", "google.protobuf.Timestamp")
    .replaceAll("duration", "google.protobuf.Duration")
    .replaceAll(/\bnull\b/g, "null_type");
}

/** Beyond this, Kubernetes' integers are full and ours are Infinity. */
const bound = (text: string | number): number => (Number(text) > 1e17 ? Number.POSITIVE_INFINITY : Number(text));

function answer({ expr, types: declared }: KubernetesVector): Omit<KubernetesVector, "expr" | "types"> {
  const used = Object.entries(vectors.variables).filter(([name]) => new RegExp(`\\b${name}\\b`).test(expr));
  const variables = Object.fromEntries(used.map(([name]) => [name, types[declared?.[name] ?? ""] ?? DYN]));
  const compiled = kubernetesEnvironment({ variables }).tryCompile(expr);
  if (!compiled.ok) return { issue: compiled.message };
  const { program } = compiled;
  const { min, max } = program.estimateCost();
  const result = program.run(Object.fromEntries(used));
  return {
    type: kubernetesType(program.type),
    cost: result.cost,
    estMin: String(bound(min)),
    estMax: String(bound(max)),
    ...(result.ok ? { value: describeValue(result.value) } : { err: result.failure.message }),
  };
}

/** `{"other": "type content"}` as `{"other": "type"}`. */
function withoutContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutContent);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] =>
    key === "other" && typeof item === "string" ? [key, item.split(" ", 1)[0]] : [key, withoutContent(item)],
  );
  return Object.fromEntries(entries);
}

/** What we say and what Kubernetes says, where the two differ. */
function difference(vector: KubernetesVector): { expr: string; ours: unknown; kubernetes: unknown } | undefined {
  const { expr, types: _types, issue, ...expected } = vector;
  const ours = answer(vector);
  if (expected.err?.startsWith("program: ") === true) {
    const reason = expected.err.replace("program: ", "program instantiation failed: ");
    return ours.issue?.includes(reason) === true ? undefined : { expr, ours, kubernetes: expected.err };
  }
  if (issue !== undefined) {
    // Our parser explains itself in its own words.
    const agrees = issue.includes("Syntax error") ? ours.issue !== undefined : ours.issue === issue;
    return agrees ? undefined : { expr, ours, kubernetes: issue };
  }
  const kubernetes = {
    ...expected,
    ...(expected.err === undefined ? { value: withoutContent(expected.value ?? null) } : {}),
    estMin: String(bound(expected.estMin ?? "")),
    estMax: String(bound(expected.estMax ?? "")),
  };
  return jsonEqual(ours, kubernetes) ? undefined : { expr, ours, kubernetes };
}

describe(`agreement with Kubernetes ${vectors.kubernetes}`, { timeout: 60_000 }, () => {
  // The literal type of the file is too wide to be of use.
  const cases = vectors.cases as readonly KubernetesVector[];

  it("has type, value or error, cost and estimated cost of every expression", () => {
    console.info(`CEL agreement with Kubernetes ${vectors.kubernetes}: ${cases.length} expressions`);
    expect(cases.flatMap((vector) => difference(vector) ?? [])).toEqual([]);
    expect(cases.length).toBeGreaterThan(1_500);
  });
});
