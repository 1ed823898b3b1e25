import type { StructuralSchema } from "./structural-schema.ts";

/** Finds the old item that a new one continues. Only lists with keys can tell. */
export function correlateItems(schema: StructuralSchema, old: unknown): (item: unknown) => unknown {
  const keys = schema["x-kubernetes-list-type"] === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
  if (keys === undefined || !Array.isArray(old)) return () => undefined;
  const byKey = new Map<string, unknown>(old.map((item) => [identity(item, keys), item]));
  return (item) => byKey.get(identity(item, keys));
}

function identity(item: unknown, keys: readonly string[]): string {
  const source = typeof item === "object" && item !== null ? (item as Readonly<Record<string, unknown>>) : {};
  return JSON.stringify(keys.map((key) => (Object.hasOwn(source, key) ? source[key] : null)));
}
