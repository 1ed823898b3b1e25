import { describe, expect, it } from "vitest";
import { createImageVolumes, imageRequest, parsePlatform } from "./image-volumes.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "launcher", annotations: { "polyvirt.io/image-platform.root": "linux/s390x" } },
  spec: { containers: [] },
} as const;

describe("imageRequest", () => {
  it("takes the platform of the volume that the annotation names, and of no other", () => {
    const platform = { os: "linux", architecture: "s390x" };
    expect(imageRequest(pod, "root", { reference: "disk:1" })).toMatchObject({ reference: "disk:1", platform });
    expect(imageRequest(pod, "other", { reference: "disk:1" }).platform).toBeUndefined();
  });
});

describe("createImageVolumes", () => {
  it("asks for the machine's own platform unless the request names one", async () => {
    const asked: string[] = [];
    const store = {
      resolve: async (reference: string, { architecture }: { architecture: string }) => `${reference}-${architecture}`,
      unpack: async (digest: string) => {
        asked.push(digest);
        return `/unpacked/${digest}`;
      },
    };
    const volumes = createImageVolumes({ store, platform: { os: "linux", architecture: "amd64" } });
    await volumes.directoryOf({ reference: "a", platform: undefined });
    await volumes.directoryOf({ reference: "a", platform: { os: "linux", architecture: "arm64" } });
    expect(asked).toEqual(["a-amd64", "a-arm64"]);
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
