import type { DomainSpec, VirtualMachineInstance, VirtualMachineInstancePreset } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { instance } from "../testing/fixtures.ts";
import { applyPresets } from "./apply-presets.ts";

function preset(name: string, domain: Partial<DomainSpec>, os = "any"): VirtualMachineInstancePreset {
  return { metadata: { name }, spec: { selector: { matchLabels: { os } }, domain: { devices: {}, ...domain } } };
}

function labelled(domain: Partial<DomainSpec> = {}, annotations: Record<string, string> = {}): VirtualMachineInstance {
  const vmi = instance(domain);
  return { ...vmi, metadata: { ...vmi.metadata, labels: { os: "any" }, annotations } };
}

function applied(vmi: VirtualMachineInstance, ...presets: VirtualMachineInstancePreset[]) {
  const result = applyPresets(vmi, presets);
  if ("conflict" in result) throw new Error(result.conflict);
  return result;
}

const mark = (name: string) => `virtualmachinepreset.kubevirt.io/${name}`;

describe("applyPresets", () => {
  it.each<[string, Partial<DomainSpec>]>([
    ["requests", { resources: { requests: { memory: "1Gi" } } }],
    ["CPU", { cpu: { cores: 4 } }],
    ["firmware", { firmware: { uuid: "11111111-2222-3333-4444-555555555555" } }],
    ["clock", { clock: { utc: { offsetSeconds: 5 }, timer: { hpet: { present: false } } } }],
    ["features", { features: { acpi: { enabled: false } } }],
    ["watchdog", { devices: { watchdog: { name: "dog", i6300esb: { action: "reset" } } } }],
    ["I/O threads", { ioThreadsPolicy: "shared" }],
  ])("gives a VMI its %s", (_, domain) => {
    const { vmi, warnings } = applied(labelled(), preset("p", domain));
    expect(vmi.spec.domain).toMatchObject(domain);
    expect(vmi.metadata.annotations).toEqual({ [mark("p")]: "kubevirt.io/v1" });
    expect(warnings).toEqual([]);
  });

  it("only to VMIs with its labels, and not to those that are excluded", () => {
    const other = labelled();
    expect(applied(other, preset("p", { cpu: { cores: 4 } }, "bsd")).vmi).toEqual(other);
    const excluded = labelled({}, { "virtualmachineinstancepresets.admission.kubevirt.io/exclude": "true" });
    expect(applied(excluded, preset("p", { cpu: { cores: 4 } })).vmi).toEqual(excluded);
  });

  it("leaves what the VMI says itself, and warns", () => {
    const { vmi, warnings } = applied(labelled({ cpu: { cores: 1 } }), preset("p", { cpu: { cores: 4 } }));
    expect(vmi.spec.domain.cpu).toEqual({ cores: 1 });
    expect(vmi.metadata.annotations).toEqual({});
    expect(warnings).toEqual([
      `Unable to apply VirtualMachineInstancePreset 'p': spec.cpu: {"cores":4} != {"cores":1}`,
    ]);
  });

  it("applies the rest where one setting is overridden", () => {
    const { vmi, warnings } = applied(
      labelled({ cpu: { cores: 1 } }),
      preset("p", { cpu: { cores: 4 }, ioThreadsPolicy: "auto" }),
    );
    expect(vmi.spec.domain).toMatchObject({ cpu: { cores: 1 }, ioThreadsPolicy: "auto" });
    expect(vmi.metadata.annotations).toHaveProperty([mark("p")]);
    expect(warnings[0]).toMatch("Some settings were not applied for VirtualMachineInstancePreset 'p': spec.cpu: ");
  });

  it("marks a preset that the VMI follows already", () => {
    const { vmi } = applied(labelled({ cpu: { cores: 4 } }), preset("p", { cpu: { cores: 4 } }));
    expect(vmi.metadata.annotations).toHaveProperty([mark("p")]);
  });

  it("applies several that agree, and none that contradict each other", () => {
    const memory = preset("m", { resources: { requests: { memory: "1Gi" } } });
    const cpu = preset("c", { cpu: { cores: 4 } });
    expect(Object.keys(applied(labelled(), memory, cpu).vmi.metadata.annotations ?? {})).toEqual([
      mark("m"),
      mark("c"),
    ]);
    const less = preset("l", { resources: { requests: { memory: "64Mi" } }, cpu: { cores: 2 } });
    expect(applyPresets(labelled(), [memory, cpu, less])).toEqual({
      conflict:
        "VirtualMachinePresets cannot be applied due to conflicts: " +
        "[presets 'l' and 'm' conflict: spec.resources.requests[memory]: 64Mi != 1Gi, " +
        `presets 'l' and 'c' conflict: spec.cpu: {"cores":2} != {"cores":4}]`,
    });
  });

  it("does not change what it is given", () => {
    const vmi = labelled();
    const given = preset("p", { clock: { timer: { hpet: {} } } });
    const before = structuredClone({ vmi, given });
    const { vmi: result } = applied(vmi, given);
    expect(result.spec.domain.clock?.timer).not.toBe(given.spec?.domain?.clock?.timer);
    expect({ vmi, given }).toEqual(before);
  });
});
