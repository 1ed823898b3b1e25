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
});
