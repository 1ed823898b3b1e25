import { describe, expect, it } from "vitest";
import { resolveImages } from "./images.ts";

const images = {
  virtApi: "polyvirt.local/virt-api:0.1.0",
  virtController: "registry:5000/team/virt-controller@sha256:abc",
  virtHandler: "virt-handler",
  virtLauncher: "polyvirt.local/virt-launcher-qemu:0.1.0",
};

describe("resolveImages", () => {
  it("takes the images as they are when the object does not say", () => {
    expect(resolveImages(images, { imageTag: "", imageRegistry: "" })).toEqual({
      ...images,
      registry: "polyvirt.local",
    });
  });

  it("moves them to another registry and tag", () => {
    expect(resolveImages(images, { imageRegistry: "quay.io/org", imageTag: "v2" })).toEqual({
      virtApi: "quay.io/org/virt-api:v2",
      virtController: "quay.io/org/virt-controller:v2",
      virtHandler: "quay.io/org/virt-handler:v2",
      virtLauncher: "quay.io/org/virt-launcher-qemu:v2",
      registry: "quay.io/org",
    });
  });

  it("refuses what is no image", () => {
    expect(() => resolveImages({ ...images, virtApi: "" }, {})).toThrow('read the image reference ""');
  });
});
