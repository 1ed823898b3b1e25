import type { Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { exceededLimit, hasStorageLimits } from "./storage-limits.ts";
import { memoryVolumeBytes } from "./volumes/empty-dir.ts";

const pod = (spec: Partial<Pod["spec"]>): Pick<Pod, "spec"> => ({ spec: { containers: [{ name: "a" }], ...spec } });
const limited = (limit: string) => ({ name: "a", resources: { limits: { "ephemeral-storage": limit } } });
const usage = (volume: number, container: number) => ({
  volumes: new Map([["v", volume]]),
  containers: new Map([["a", container]]),
});

describe("limits of a pod's disk usage", () => {
  it.each<[string, Partial<Pod["spec"]>, number, number, string | undefined]>([
    ["no limit", { volumes: [{ name: "v", emptyDir: {} }] }, 1e12, 1e12, undefined],
    ["within", { volumes: [{ name: "v", emptyDir: { sizeLimit: "1Mi" } }] }, 2 ** 20, 1e12, undefined],
    [
      "a volume",
      { volumes: [{ name: "v", emptyDir: { sizeLimit: "1Mi" } }] },
      2 ** 20 + 1,
      0,
      'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
    ],
    [
      "one in memory",
      { volumes: [{ name: "v", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }] },
      1e9,
      0,
      undefined,
    ],
    [
      "a container",
      { containers: [limited("1k")] },
      0,
      1001,
      'Container a exceeded its local ephemeral storage limit "1k". ',
    ],
    [
      "both together",
      { containers: [limited("1k")] },
      600,
      600,
      "Pod ephemeral local storage usage exceeds the total limit of containers 1000. ",
    ],
    ["a container without a limit beside", { containers: [limited("1k"), { name: "b" }] }, 600, 600, undefined],
  ])("%s", (_name, spec, volume, container, expected) => {
    expect(exceededLimit(pod(spec), usage(volume, container))).toBe(expected);
  });

  it("are looked for only where there are some", () => {
    expect(hasStorageLimits(pod({ volumes: [{ name: "v", emptyDir: {} }] }))).toBe(false);
    expect(hasStorageLimits(pod({ containers: [limited("1k")] }))).toBe(true);
  });
});

describe("a directory in memory", () => {
  it.each([
    ["as large as the node's memory", {}, {}, 1000],
    ["as its limit says", { sizeLimit: "100" }, {}, 100],
    ["as its pod's memory limit", { sizeLimit: "900" }, { memory: "500" }, 500],
    ["never more than the node has", { sizeLimit: "1Gi" }, {}, 1000],
  ])("is %s", (_name, emptyDir, limits, expected) => {
    const spec = { containers: [{ name: "a", resources: { limits } }] };
    expect(memoryVolumeBytes({ name: "v", emptyDir }, { spec }, 1000)).toBe(expected);
  });
});
