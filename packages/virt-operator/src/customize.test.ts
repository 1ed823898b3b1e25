import { describe, expect, it } from "vitest";
import type { CustomizeComponentsPatch } from "@polyvirt/api";
import type { KubeObject } from "@polyvirt/api/k8s";
import { customize } from "./customize.ts";

const objects: KubeObject[] = [
  { kind: "Deployment", metadata: { name: "virt-api", labels: { a: "b" } } },
  { kind: "Deployment", metadata: { name: "virt-controller" } },
  { kind: "Service", metadata: { name: "virt-api" } },
];
const patched = (patch: Partial<CustomizeComponentsPatch>) =>
  customize([{ name: "roles", objects, wait: false }], {
    spec: {
      customizeComponents: {
        patches: [{ resourceType: "Deployment", resourceName: "virt-api", type: "merge", patch: "{}", ...patch }],
      },
    },
  })[0]?.objects;

describe("customize", () => {
  it("patches the object that is named, and no other", () => {
    expect(patched({ patch: '{"metadata":{"labels":{"c":"d"}}}' })).toEqual([
      { kind: "Deployment", metadata: { name: "virt-api", labels: { a: "b", c: "d" } } },
      objects[1],
      objects[2],
    ]);
  });

  it("patches every object of a kind, written in any case", () => {
    const patch = '[{"op":"add","path":"/metadata/annotations","value":{"x":"y"}}]';
    const result = patched({ resourceType: "deployment", resourceName: "*", type: "json", patch });
    expect(result?.map(({ metadata }) => metadata.annotations)).toEqual([{ x: "y" }, { x: "y" }, undefined]);
  });

  it("names the patch and the object when they do not fit", () => {
    const patch = '[{"op":"remove","path":"/spec/replicas"}]';
    expect(() => patched({ type: "json", patch })).toThrow(
      "apply spec.customizeComponents.patches[0] to Deployment virt-api",
    );
  });
});
