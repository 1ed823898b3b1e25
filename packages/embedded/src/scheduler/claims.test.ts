import type { PersistentVolumeClaim, Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { claimProblem } from "./claims.ts";

const pod: Pod = {
  metadata: {},
  spec: { containers: [], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
};

describe("claimProblem", () => {
  const cases: [string, PersistentVolumeClaim | undefined, string | undefined][] = [
    ["no claim", undefined, 'persistentvolumeclaim "c" not found'],
    ["an unbound claim", { metadata: {} }, "pod has unbound immediate PersistentVolumeClaims"],
    [
      "a claim that goes away",
      { metadata: { deletionTimestamp: "x" }, status: { phase: "Bound" } },
      'persistentvolumeclaim "c" is being deleted',
    ],
    [
      "a claim that lost its volume",
      { metadata: {}, status: { phase: "Lost" } },
      'persistentvolumeclaim "c" bound to non-existent persistentvolume',
    ],
    ["a bound claim", { metadata: {}, status: { phase: "Bound" } }, undefined],
  ];
  it.each(cases)("%s", (_name, claim, problem) => {
    expect(claimProblem(pod, () => claim)).toBe(problem);
  });

  it("is nobody's problem without claims", () => {
    expect(claimProblem({ metadata: {}, spec: { containers: [] } }, () => undefined)).toBeUndefined();
  });
});
