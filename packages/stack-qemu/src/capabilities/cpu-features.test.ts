import { describe, expect, it } from "vitest";
import { featureNames, isNamedModel } from "./cpu-features.ts";

describe("names of CPU features", () => {
  it("are libvirt's, each once, without what is only a setting", () => {
    const properties = {
      sse3: true,
      pni: true,
      "sse4-1": true,
      sse4_1: true,
      "lahf-lm": true,
      avx2: false,
      xsave: true,
      migratable: true,
      "x-migrate-smi-count": true,
      "hv-relaxed": true,
      "kvm-pv-eoi": true,
      kvm_pv_eoi: true,
      kvmclock: true,
      ffxsr: true,
      "fxsr-opt": true,
      phys_bits: 40,
    };
    expect(featureNames("amd64", properties)).toEqual(["fxsr_opt", "lahf_lm", "pni", "sse4.1", "xsave"]);
  });

  it("do not exist for 64-bit Arm", () => {
    expect(featureNames("arm64", { sve: true, pauth: true })).toEqual([]);
  });

  it("of models leave out what stands for the host", () => {
    const named = ["host", "max", "base", "EPYC"].filter((model) => isNamedModel("amd64", model));
    expect(named).toEqual(["EPYC"]);
    expect(isNamedModel("arm64", "max")).toBe(true);
  });
});
