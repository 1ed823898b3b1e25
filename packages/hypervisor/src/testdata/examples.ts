/** KubeVirt's own example manifests as machines, where they are at hand beside the repository. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import type { VirtualMachine, VirtualMachineInstance } from "@polyvirt/api";
import type { Domain } from "@polyvirt/domain";
import { parseAllDocuments } from "yaml";
import { convertInstance, type Acceleration } from "../testing/samples.ts";

const folder = new URL("../../../../../shared/kubevirt/examples/", import.meta.url);

export const exampleFiles = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".yaml")) : [];

/** The instances that a file of examples describes, whichever kind they are wrapped in. */
export function instancesOf(file: string): VirtualMachineInstance[] {
  return parseAllDocuments(readFileSync(new URL(file, folder), "utf8")).flatMap((document) => {
    // Examples are complete objects of our kinds.
    const object = document.toJS() as (VirtualMachineInstance | VirtualMachine) | null;
    if (object === null) return [];
    if (object.kind === "VirtualMachineInstance") return [object as VirtualMachineInstance];
    const spec = "template" in object.spec ? object.spec.template.spec : undefined;
    return spec === undefined ? [] : [{ metadata: object.metadata, spec }];
  });
}

/** Those that are meant for this platform. */
export function convertExamples(platform: string, how: Acceleration): { name: string; domain: Domain }[] {
  return exampleFiles
    .filter((file) => platform.endsWith("/arm64") === (file === "vmi-arm.yaml"))
    .flatMap((file) =>
      instancesOf(file).flatMap((vmi) => {
        const { causes, domain } = convertInstance(vmi, { platform, how });
        return causes.length > 0 ? [] : [{ name: `${file} on ${platform} (${how})`, domain }];
      }),
    );
}
