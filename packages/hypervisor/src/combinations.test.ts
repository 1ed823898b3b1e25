/** Fields in combinations and with values that nobody thought of: every VMI is refused in words, or becomes a valid machine. */
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from "@polyvirt/api";
import { hasCode } from "@polyvirt/core";
import { validateDomain, writeDomain } from "@polyvirt/domain";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fieldsOf, platforms, specWith } from "./testing/field-cases.ts";
import { machineSamples, type Fields, type FieldSample } from "./testing/field-samples.ts";
import { admitInstance } from "./testing/samples.ts";

const texts = ["", " ", "-1", "0", "é☃", "a b", "<x/>", "'\"&", "../../etc", "0x1f", "a\u0000b", "🙂", "x".repeat(300)];
const numbers = [0, -1, 1, 1.5, 255, 65_536, 2 ** 31, 2 ** 53, -(2 ** 31), 1e21];
const quantities = [
  "0",
  "1",
  "-1Gi",
  "1.5Gi",
  "1e3",
  "100Mi",
  "3Gi",
  "8191Pi",
  "1n",
  "abc",
  "1Gi ",
  "9223372036854775808",
];

/** Another value of the same type as the sample's. */
function unusual({ path, value }: FieldSample): fc.Arbitrary<unknown> {
  if (/memory|resources/.test(path) && typeof value === "string") return fc.constantFrom(...quantities, ...texts);
  if (typeof value === "string") return fc.constantFrom(...texts);
  if (typeof value === "number") return fc.constantFrom(...numbers);
  if (typeof value === "boolean") return fc.boolean();
  return fc.constant(value);
}

const field = (platform: string): fc.Arbitrary<Fields> =>
  fc.constantFrom(...machineSamples).chain((sample) =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(fieldsOf(sample, platform)) },
      {
        weight: 1,
        arbitrary: unusual(sample).map((value) => ({ ...fieldsOf(sample, platform), [sample.path]: value })),
      },
    ),
  );

const cases = fc.constantFrom(...platforms).chain((platform) =>
  fc.record({
    platform: fc.constant(platform),
    how: fc.constantFrom("accelerated" as const, "emulated" as const, "foreign" as const),
    fields: fc.array(field(platform), { minLength: 1, maxLength: 6 }),
  }),
);

/** Admission never sees items without a name: the schema of the API requires one. */
function withNames(spec: VirtualMachineInstanceSpec): VirtualMachineInstanceSpec {
  const { disks, interfaces, gpus, hostDevices, inputs, filesystems } = spec.domain.devices;
  for (const item of [disks, interfaces, gpus, hostDevices, inputs, filesystems].flatMap((list) => list ?? [])) {
    // The types say so too; a combination of fields may still leave it out.
    (item as { name?: string }).name ??= "";
  }
  return spec;
}

const refusals = ["HypervisorConversionRefused", "HypervisorEmulationRefused"] as const;

describe("any combination of fields", () => {
  it(
    "is refused with fields and words, or becomes a machine that libvirt's schema accepts",
    { timeout: 60_000 },
    () => {
      let machines = 0;
      fc.assert(
        fc.property(cases, ({ platform, how, fields }) => {
          const vmi: VirtualMachineInstance = {
            metadata: { name: "testvmi", namespace: "default" },
            spec: withNames(specWith(Object.assign({}, ...fields))),
            status: { VSOCKCID: 7 },
          };
          const before = structuredClone(vmi);
          const { causes, convert } = admitInstance(vmi, { platform, how });
          expect(vmi).toEqual(before);
          for (const { field: at = "", message = "" } of causes) {
            expect(at).toMatch(/^spec\b/);
            expect(message).not.toMatch(/undefined|NaN|\[object/);
          }
          if (causes.length > 0) return;
          try {
            const domain = convert();
            expect(validateDomain(domain)).toEqual([]);
            writeDomain(domain);
            machines += 1;
          } catch (error) {
            if (!refusals.some((code) => hasCode(error, code))) throw error;
          }
        }),
        { numRuns: Number(process.env["POLYVIRT_RUNS"] ?? 1500) },
      );
      expect(machines).toBeGreaterThan(100);
    },
  );
});
