import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { clusterConfig, instance } from "../testing/fixtures.ts";

describe("validateVirtualMachineSpec", () => {
  const validate = (spec: Parameters<ReturnType<typeof registry.get>["validator"]["validateVirtualMachineSpec"]>[1]) =>
    registry.get("kvm").validator.validateVirtualMachineSpec("spec", spec, clusterConfig());
  const template = { spec: instance().spec };

  it("wants exactly one way to say whether it runs", () => {
    expect(validate({ template, running: true, runStrategy: "Always" })[0]?.message).toBe(
      "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead",
    );
    expect(validate({ template })[0]?.message).toBe("RunStrategy must be specified");
    expect(validate({ template, runStrategy: "Sometimes" })[0]?.message).toBe("Invalid RunStrategy (Sometimes)");
    expect(validate({ template, runStrategy: "Always" })).toEqual([]);
  });

  it("looks into the template, and names its fields", () => {
    expect(validate({ template: {}, runStrategy: "Always" })[0]?.message).toBe("missing virtual machine template.");
    const bad = { spec: instance({ machine: { type: "pc" } }).spec };
    expect(validate({ template: bad, runStrategy: "Always" })[0]?.field).toBe("spec.template.spec.domain.machine.type");
  });

  it.each([
    [{}, "spec.instancetype", "Either Name or InferFromVolume should be provided within the instancetype matcher"],
    [
      { name: "small", inferFromVolume: "root" },
      "spec.instancetype.name",
      "Name should not be provided when InferFromVolume is used within the instancetype matcher",
    ],
    [
      { kind: "VirtualMachineInstancetype", inferFromVolume: "root" },
      "spec.instancetype.kind",
      "Kind should not be provided when InferFromVolume is used within the instancetype matcher",
    ],
    [
      { inferFromVolume: "root", inferFromVolumeFailurePolicy: "Shrug" },
      "spec.instancetype.inferFromVolumeFailurePolicy",
      "Invalid value 'Shrug' for InferFromVolumeFailurePolicy (allowed values: [Reject Ignore])",
    ],
    [
      { name: "small", kind: "Pod" },
      "spec.instancetype.kind",
      "Invalid value 'Pod' for Kind (allowed values: [virtualmachineinstancetype virtualmachineclusterinstancetype])",
    ],
    [{ name: "small" }, "spec.instancetype", "spec.instancetype: instance types are not served by this version"],
  ])("refuses the matcher %j", (instancetype, field, message) => {
    expect(validate({ template, runStrategy: "Always", instancetype })).toContainEqual({
      reason: "FieldValueNotFound",
      field,
      message,
    });
  });

  it("looks at preferences in the same way", () => {
    const causes = validate({ template, runStrategy: "Always", preference: {} });
    expect(causes[0]).toMatchObject({
      field: "spec.preference",
      message: "Either Name or InferFromVolume should be provided within the preference matcher",
    });
  });
});
