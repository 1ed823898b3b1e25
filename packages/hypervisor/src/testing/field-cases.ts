/**
 * Every machine field of a VMI on every platform, with what becomes of it: the generated set that the coverage, the schema
 * and the libvirt tests share.
 */
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { Domain } from "@polyvirt/domain";
import { jsonEqual } from "@polyvirt/core";
import { registry } from "../builtin.ts";
import { findUnserved } from "../capabilities/unserved.ts";
import { baseSpec, type Fields, type FieldSample } from "./field-samples.ts";
import { convertInstance, type Acceleration } from "./samples.ts";

export const platforms = ["kvm/amd64", "kvm/arm64", "kvm/s390x", "mshv/amd64", "mshv/arm64", "mshv/s390x"] as const;

/** What one VMI became: a machine, or the words with which it is refused. */
export type Outcome =
  | { readonly kind: "machine"; readonly domain: Domain }
  | { readonly kind: "refused"; readonly causes: readonly string[] };

/** Sets a value at a path like `domain.devices.disks[0].name`, making what is missing on the way. */
function setAt(root: unknown, path: string, value: unknown): void {
  const parts = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  const last = parts.pop() ?? "";
  let current = root as Record<string, unknown>; // Paths are the samples' own, so every step is an object or a list.
  for (const [index, part] of parts.entries()) {
    current[part] ??= /^\d+$/.test(parts[index + 1] ?? last) ? [] : {};
    current = current[part] as Record<string, unknown>;
  }
  if (value === undefined) delete current[last];
  else current[last] = value;
}

/** The base VMI's spec with these fields. */
export function specWith(fields: Fields): VirtualMachineInstanceSpec {
  const spec = structuredClone(baseSpec);
  for (const [path, value] of Object.entries(fields)) setAt(spec, path, structuredClone(value));
  return spec;
}

/** Converts the base VMI with these fields. */
export function convertFields(fields: Fields, platform: string, how: Acceleration = "accelerated"): Outcome {
  const vmi: VirtualMachineInstance = {
    metadata: { name: "testvmi", namespace: "default" },
    spec: specWith(fields),
    status: { VSOCKCID: 7 },
  };
  try {
    const { causes, domain } = convertInstance(vmi, { platform, how });
    if (causes.length === 0) return { kind: "machine", domain };
    return { kind: "refused", causes: causes.map(({ field, message }) => `${field}: ${message}`) };
  } catch (error) {
    return { kind: "refused", causes: [error instanceof Error ? error.message : String(error)] };
  }
}

/** What becomes of a field: it changes the machine, it is refused, or (which must not be) nothing happens. */
export type Verdict =
  | { readonly kind: "honoured"; readonly domain: Domain }
  | { readonly kind: "refused"; readonly causes: readonly string[] }
  | { readonly kind: "ignored" };

function givenFields({ given = {}, givenOn = {} }: FieldSample, platform: string): Fields {
  return { ...given, ...givenOn[registry.platform(platform).architecture] };
}

/** The fields with which a sample is tried on a platform. */
export function fieldsOf(sample: FieldSample, platform: string): Fields {
  const { path, value, on = {} } = sample;
  const { architecture } = registry.platform(platform);
  return { ...givenFields(sample, platform), [path]: architecture in on ? on[architecture] : value };
}

export function judgeField(sample: FieldSample, platform: string): Verdict {
  const fields = fieldsOf(sample, platform);
  const after = convertFields(fields, platform);
  if (after.kind === "refused") return after;
  const unserved = findUnserved("spec", specWith(fields)).map(({ message }) => message ?? "");
  const before = convertFields(sample.versus ?? givenFields(sample, platform), platform);
  if (before.kind === "machine" && !jsonEqual(before.domain, after.domain)) {
    return { kind: "honoured", domain: after.domain };
  }
  return unserved.length > 0 ? { kind: "refused", causes: unserved } : { kind: "ignored" };
}
