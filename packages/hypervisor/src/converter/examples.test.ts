import { validateDomain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { exampleFiles, instancesOf } from "../testdata/examples.ts";
import { convertInstance } from "../testing/samples.ts";

describe.skipIf(exampleFiles.length === 0)("KubeVirt's examples", () => {
  // Without the folder there is one name, so that the suite shows as skipped.
  it.each(exampleFiles.length === 0 ? ["none"] : exampleFiles)(
    "%s becomes a machine that libvirt's schema accepts",
    (file) => {
      const platform = file === "vmi-arm.yaml" ? "kvm/arm64" : "kvm/amd64";
      for (const vmi of instancesOf(file)) {
        const { causes, domain } = convertInstance(vmi, { platform, how: "accelerated" });
        expect(causes).toEqual([]);
        expect(validateDomain(domain)).toEqual([]);
      }
    },
  );
});
