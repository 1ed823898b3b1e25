import type { Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { imageErrors } from "./errors.ts";
import { createImageVolumes, imageRequest, parsePlatform, type ImageRequest } from "./image-volumes.ts";

const pod: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "launcher", annotations: { "polyvirt.io/image-platform.root": "linux/s390x" } },
  spec: { containers: [] },
};
const amd64 = { os: "linux", architecture: "amd64" };

describe("imageRequest", () => {
  it("takes the platform of the volume that the annotation names, and of no other", () => {
    const platform = { os: "linux", architecture: "s390x" };
    expect(imageRequest(pod, "root", { reference: "disk:1" })).toMatchObject({ reference: "disk:1", platform });
    expect(imageRequest(pod, "other", { reference: "disk:1" }).platform).toBeUndefined();
  });

  it.each([
    ["disk:1", "IfNotPresent"],
    ["disk", "Always"],
    ["example.org:5000/disk", "Always"],
    ["example.org/disk:latest", "Always"],
    [`disk@sha256:${"0".repeat(64)}`, "IfNotPresent"],
  ])("pulls %s by policy %s unless the pod says otherwise", (reference, expected) => {
    expect(imageRequest(pod, "v", { reference }).pullPolicy).toBe(expected);
    expect(imageRequest(pod, "v", { reference, pullPolicy: "Never" }).pullPolicy).toBe("Never");
  });
});

describe("createImageVolumes", () => {
  /** A store that has only what was asked for with the given architectures. */
  function volumesOver(present: readonly string[]) {
    const asked: string[] = [];
    const unused = async (): Promise<never> => {
      throw new Error("not used");
    };
    const store = {
      resolve: async (reference: string, { architecture }: { architecture: string }) => {
        if (!present.includes(reference)) throw imageErrors.ImageUnknown(`find ${reference}`);
        return `${reference}-${architecture}`;
      },
      unpack: async (digest: string) => digest,
      receive: unused,
      put: unused,
      tag: unused,
    };
    const registries = {
      endpoints: (registry: string) => {
        asked.push(registry);
        throw new Error("no network in this test");
      },
    };
    return { asked, volumes: createImageVolumes({ store, platform: amd64, registries }) };
  }

  const request = (reference: string, rest: Partial<ImageRequest> = {}): ImageRequest => ({
    reference,
    platform: undefined,
    pullPolicy: "IfNotPresent",
    ...rest,
  });

  it("asks for the machine's own platform unless the request names one", async () => {
    const { volumes } = volumesOver(["a:1"]);
    expect(await volumes.directoryOf(request("a:1"))).toBe("a:1-amd64");
    const arm64 = { os: "linux", architecture: "arm64" };
    expect(await volumes.directoryOf(request("a:1", { platform: arm64 }))).toBe("a:1-arm64");
  });

  it.each([
    ["IfNotPresent takes what is there", request("a:1"), []],
    ["IfNotPresent asks the registry for what is not", request("example.org/b:1"), ["example.org"]],
    ["Always asks the registry", request("example.org/a:1", { pullPolicy: "Always" }), ["example.org"]],
    ["Never does not", request("example.org/b:1", { pullPolicy: "Never" }), []],
    ["local names are never asked for", request("polyvirt.local/b:1", { pullPolicy: "Always" }), []],
  ])("%s", async (_name, wanted, expected) => {
    const { volumes, asked } = volumesOver(["a:1", "example.org/a:1"]);
    await volumes.directoryOf(wanted).catch(() => undefined);
    expect(asked).toEqual(expected);
  });
});

describe("parsePlatform", () => {
  it("reads an optional variant", () => {
    expect(parsePlatform("linux/arm/v7")).toEqual({ os: "linux", architecture: "arm", variant: "v7" });
  });
  it.each(["", "linux", "linux/", "a/b/c/d"])("refuses %j", (text) => {
    expect(() => parsePlatform(text)).toThrow("read the platform");
  });
});
