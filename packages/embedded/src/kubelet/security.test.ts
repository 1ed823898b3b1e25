import type { PodSpec } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { credentialsOf } from "./security.ts";

const groupsOf = (securityContext: NonNullable<PodSpec["securityContext"]>): readonly number[] => {
  const container = { name: "main", image: "x" };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { securityContext, containers: [container] },
  };
  return credentialsOf(pod, container).groups;
};

describe("the groups of a container's processes", () => {
  it("are those of the pod, and the one of its volumes", () => {
    expect(groupsOf({ runAsGroup: 5, supplementalGroups: [7, 8], fsGroup: 9 })).toEqual([7, 8, 9]);
  });

  it("do not name the main one again", () => {
    expect(groupsOf({ runAsGroup: 107, fsGroup: 107 })).toEqual([]);
  });
});
