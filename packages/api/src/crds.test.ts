import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { conforms } from "../generate/conforms.ts";
import { missingPaths } from "../generate/coverage.ts";
import { buildCustomResourceDefinition, buildCustomResourceDefinitions } from "./crds.ts";
import type { CustomResourceDefinition, JsonSchemaProps } from "./k8s/apiextensions.ts";

const shared = join(import.meta.dirname, "../../../../shared");
const samples = join(shared, "kubevirt/api");
const leaves = join(shared, "reference/vmi-spec-leaves.txt");

function schemaOf(definition: CustomResourceDefinition): JsonSchemaProps {
  const schema = definition.spec.versions[0]?.schema?.openAPIV3Schema;
  if (schema === undefined) throw new Error(`${definition.metadata.name} has no schema`);
  return schema;
}

function everyNode(schema: JsonSchemaProps, path = ""): [string, JsonSchemaProps][] {
  const children: [string, JsonSchemaProps][] = Object.entries(schema.properties ?? {}).map(([name, child]) => [
    `${path}.${name}`,
    child,
  ]);
  if (schema.items !== undefined) children.push([`${path}[]`, schema.items]);
  if (typeof schema.additionalProperties === "object") children.push([`${path}{}`, schema.additionalProperties]);
  return [[path, schema], ...children.flatMap(([childPath, child]) => everyNode(child, childPath))];
}

/** With paths such as `virtualmachines.kubevirt.io .spec.running`. */
function everyNodeOfAll(): [string, JsonSchemaProps][] {
  return buildCustomResourceDefinitions().flatMap((definition) =>
    everyNode(schemaOf(definition), `${definition.metadata.name} `),
  );
}

describe("custom resource definitions", () => {
  it("serves the seven kinds, storing the first version", () => {
    const summary = buildCustomResourceDefinitions().map((definition) => [
      definition.metadata.name,
      definition.spec.versions.map((version) => `${version.name}${version.storage ? "*" : ""}`).join(" "),
    ]);
    expect(summary).toEqual([
      ["kubevirts.kubevirt.io", "v1* v1alpha3"],
      ["virtualmachines.kubevirt.io", "v1* v1alpha3"],
      ["virtualmachineinstances.kubevirt.io", "v1* v1alpha3"],
      ["virtualmachineinstancereplicasets.kubevirt.io", "v1* v1alpha3"],
      ["virtualmachineinstancemigrations.kubevirt.io", "v1* v1alpha3"],
      ["virtualmachineinstancepresets.kubevirt.io", "v1* v1alpha3"],
      ["plugins.plugin.kubevirt.io", "v1alpha1*"],
    ]);
  });

  it("is structural: every node has a type or says why not, and no reference is left", () => {
    const wrong = everyNodeOfAll().filter(
      ([, node]) =>
        node.$ref !== undefined ||
        (node.type === undefined &&
          node["x-kubernetes-int-or-string"] !== true &&
          node["x-kubernetes-preserve-unknown-fields"] !== true),
    );
    expect(wrong).toEqual([]);
  });

  it("requires the keys of keyed lists", () => {
    const wrong = everyNodeOfAll().filter(([, node]) =>
      node["x-kubernetes-list-map-keys"]?.some((key) => node.items?.required?.includes(key) !== true),
    );
    expect(wrong).toEqual([]);
  });

  it("sees what is wrong with an object", () => {
    const vmi = { metadata: {}, spec: { domain: { devices: { disks: [{ nme: "a" }] }, memory: { guest: "1Zi" } } } };
    expect(conforms(vmi, schemaOf(buildCustomResourceDefinition("VirtualMachineInstance")))).toEqual([
      ".spec.domain.devices.disks[0].name: missing",
      ".spec.domain.devices.disks[0].nme: unknown field",
      '.spec.domain.memory.guest: "1Zi" is no quantity',
    ]);
  });

  it.runIf(existsSync(samples)).each(["KubeVirt", "VirtualMachine", "VirtualMachineInstance"])(
    "takes KubeVirt's sample %s, in which every field is set",
    (kind) => {
      const { metadata: _, ...sample } = JSON.parse(readFileSync(join(samples, `kubevirt.io.v1.${kind}.json`), "utf8"));
      expect(conforms({ metadata: {}, ...sample }, schemaOf(buildCustomResourceDefinition(kind)))).toEqual([]);
    },
  );

  it.runIf(existsSync(leaves))("has every leaf field of KubeVirt's instance", () => {
    expect(missingPaths("VirtualMachineInstance", readFileSync(leaves, "utf8"))).toEqual({ total: 370, missing: [] });
  });

  it("describes every field", () => {
    const silent = everyNodeOfAll().filter(
      ([path, { description = "" }]) => /\.\w+$/.test(path) && !path.endsWith(" .metadata") && description.length < 5,
    );
    expect(silent).toEqual([]);
  });
});
