import { existsSync, readFileSync, readdirSync } from "node:fs";
import { validateDomain } from "@polyvirt/domain";
import type { VirtualMachine, VirtualMachineInstance } from "@polyvirt/api";
import { parseAllDocuments } from "yaml";
import { describe, expect, it } from "vitest";
import { convertInstance } from "../testing/samples.ts";

const folder = new URL("../../../../../shared/kubevirt/examples/", import.meta.url);
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".yaml")) : [];

/** The instances that a file of examples describes, whichever kind they are wrapped in. */
function instancesOf(file: string): VirtualMachineInstance[] {
  return parseAllDocuments(readFileSync(new URL(file, folder), "utf8")).flatMap((document) => {
    // Examples are complete objects of our kinds.
    const object = document.toJS() as (VirtualMachineInstance | VirtualMachine) | null;
    if (object === null) return [];
    if (object.kind === "VirtualMachineInstance") return [object as VirtualMachineInstance];
    const spec = "template" in object.spec ? object.spec.template.spec : undefined;
    return spec === undefined ? [] : [{ metadata: object.metadata, spec }];
  });
}

describe.skipIf(files.length === 0)("KubeVirt's examples", () => {
  // Without the folder there is one name, so that the suite shows as skipped.
  it.each(files.length === 0 ? ["none"] : files)("%s becomes a machine that libvirt's schema accepts", (file) => {
    const platform = file === "vmi-arm.yaml" ? "kvm/arm64" : "kvm/amd64";
    for (const vmi of instancesOf(file)) {
      const { causes, domain } = convertInstance(vmi, { platform, how: "accelerated" });
      expect(causes).toEqual([]);
      expect(validateDomain(domain)).toEqual([]);
    }
  });
});
