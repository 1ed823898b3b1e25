import { readFileSync } from "node:fs";
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from "@polyvirt/api";
import { isJsonObject, jsonEqual } from "@polyvirt/core";
import { describe, expect, it } from "vitest";
import { findUnserved } from "./capabilities/unserved.ts";
import { baseSpec, machineSamples, servedElsewhere, type FieldSample } from "./testing/field-samples.ts";
import { convertInstance } from "./testing/samples.ts";

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const openapi: { components: { schemas: Record<string, Schema> } } = JSON.parse(
  readFileSync(new URL("../../api/src/gen/openapi.json", import.meta.url), "utf8"),
);

/** Every field of the schema that has no fields of its own. */
function leaves(schema: Schema, path: string): string[] {
  const { $ref, allOf, items, properties } = schema;
  if ($ref !== undefined) return leaves(openapi.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}, path);
  if (allOf?.[0] !== undefined) return leaves(allOf[0], path);
  if (items !== undefined) return leaves(items, `${path}[]`);
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, child]) => leaves(child, path === "" ? name : `${path}.${name}`));
}

/** Sets a value at a path like `domain.devices.disks[0].name`, making what is missing on the way. */
function setAt(root: unknown, path: string, value: unknown): void {
  const parts = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  const last = parts.pop() ?? "";
  let current = root as Record<string, unknown>; // Paths are this test's own, so every step is an object or a list.
  for (const [index, part] of parts.entries()) {
    current[part] ??= /^\d+$/.test(parts[index + 1] ?? last) ? [] : {};
    current = current[part] as Record<string, unknown>;
  }
  if (value === undefined) delete current[last];
  else current[last] = value;
}

function specWith(fields: Readonly<Record<string, unknown>>): VirtualMachineInstanceSpec {
  const spec = structuredClone(baseSpec);
  for (const [path, value] of Object.entries(fields)) setAt(spec, path, value);
  return spec;
}

const metadata = { name: "testvmi", namespace: "default" };

function judge({ path, value, given = {}, platform }: FieldSample): "honoured" | "refused" | "ignored" {
  const chosen = platform ?? (path === "architecture" ? `kvm/${String(value)}` : "kvm/amd64");
  const convert = (fields: Readonly<Record<string, unknown>>) => {
    const vmi: VirtualMachineInstance = { metadata, spec: specWith(fields) };
    if (findUnserved("spec", vmi.spec).length > 0) return "refused";
    try {
      const { causes, domain } = convertInstance(vmi, { platform: chosen, how: "accelerated" });
      return causes.length > 0 ? "refused" : domain;
    } catch {
      return "refused";
    }
  };
  const after = convert({ ...given, [path]: value });
  if (after === "refused") return "refused";
  if (chosen !== "kvm/amd64") return "honoured";
  return jsonEqual(convert(given), after) ? "ignored" : "honoured";
}

const pattern = (path: string): string => path.replaceAll(/\[\d+\]/g, "[]");
const isElsewhere = (leaf: string): boolean =>
  Object.keys(servedElsewhere).some(
    (prefix) => leaf === prefix || leaf.startsWith(`${prefix}.`) || leaf.startsWith(`${prefix}[]`),
  );

describe("machine fields of a VMI", () => {
  const all = leaves(openapi.components.schemas["VirtualMachineInstanceSpec"] ?? {}, "");
  const sampled = new Set(machineSamples.map(({ path }) => pattern(path)));

  it("each has a sample, or is somebody else's", () => {
    expect(isJsonObject(openapi)).toBe(true);
    const machineLeaves = all.filter((leaf) => !isElsewhere(leaf)).map((leaf) => leaf.replace(/\[\]$/, "[]"));
    expect(machineLeaves.filter((leaf) => !sampled.has(leaf))).toEqual([]);
  });

  it("are honoured or refused, never ignored", () => {
    // Choosing the hypervisor that the cluster has anyway changes nothing; admission refuses any other.
    const judged = machineSamples
      .filter(({ path }) => path !== "hypervisor")
      .map((sample) => [sample.path, judge(sample)]);
    expect(judged.filter(([, result]) => result === "ignored")).toEqual([]);
  });
});
