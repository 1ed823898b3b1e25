import { describe, expect, it } from "vitest";
import type { Domain } from "./gen/domain.ts";
import { recordProvenance, whoSet } from "./provenance.ts";

describe("recordProvenance", () => {
  it("attributes each field to the layer that set it last", () => {
    const domain: Domain = { type: "kvm" };
    const recorder = recordProvenance(domain, "base");
    domain.os = { type: { value: "hvm" } };
    domain.devices = { disks: [{ type: "file", target: { dev: "vda", bus: "sata" } }] };
    recorder.attribute(domain, "configurator/disk");
    const [disk] = domain.devices.disks ?? [];
    if (disk?.target) disk.target.bus = "virtio";
    recorder.attribute(domain, "plugin/fast");
    expect(recorder.whoSet("/type")).toBe("base");
    expect(recorder.whoSet("/spec/os/type/value")).toBe("configurator/disk");
    expect(recorder.whoSet("/spec/devices/disks/0/target/dev")).toBe("configurator/disk");
    expect(recorder.whoSet("/spec/devices/disks/0/target/bus")).toBe("plugin/fast");
  });

  it("follows list items when others are put before them, removed or moved", () => {
    let domain: Domain = { devices: { disks: [{ target: { dev: "vda" } }, { target: { dev: "vdb" } }] } };
    const recorder = recordProvenance(domain, "a");
    domain = {
      devices: { disks: [{ target: { dev: "sda" } }, { target: { dev: "vda" } }, { target: { dev: "vdb" } }] },
    };
    recorder.attribute(domain, "b");
    expect(["0", "1", "2"].map((index) => recorder.whoSet(`/devices/disks/${index}/target/dev`))).toEqual([
      "b",
      "a",
      "a",
    ]);
    domain = { devices: { disks: [{ target: { dev: "vdb", bus: "virtio" } }, { target: { dev: "sda" } }] } };
    recorder.attribute(domain, "c");
    expect(recorder.whoSet("/devices/disks/0/target/dev")).toBe("a");
    expect(recorder.whoSet("/devices/disks/0/target/bus")).toBe("c");
    expect(recorder.whoSet("/devices/disks/1/target/dev")).toBe("b");
  });

  it("does not take an equal new item for an old one that changed", () => {
    const recorder = recordProvenance({ os: { initargs: ["x", "y"] } }, "a");
    recorder.attribute({ os: { initargs: ["new", "x", "y"] } }, "b");
    expect(["0", "1", "2"].map((index) => recorder.whoSet(`/os/initargs/${index}`))).toEqual(["b", "a", "a"]);
  });

  it("says who removed a field, until someone sets it again", () => {
    const recorder = recordProvenance({ title: "t", name: "n" }, "a");
    recorder.attribute({ name: "n" }, "b");
    expect(recorder.whoSet("/title")).toBe("b");
    recorder.attribute({ name: "n", title: "u" }, "c");
    expect(recorder.whoSet("/title")).toBe("c");
  });

  it("is plain JSON that can be read elsewhere", () => {
    const recorder = recordProvenance({ name: "n" }, "a");
    recorder.attribute({ name: "n", os: { kernel: "k" } }, "b");
    const sent = JSON.parse(JSON.stringify(recorder.provenance()));
    expect(whoSet(sent, "/spec/os/kernel")).toBe("b");
    expect(whoSet(sent, "/spec/name")).toBe("a");
    expect(whoSet(sent, "")).toBe("a");
  });

  it("ignores steps that change nothing", () => {
    const recorder = recordProvenance({ name: "n" }, "a");
    recorder.attribute({ name: "n" }, "b");
    expect(recorder.provenance()).toBe("a");
  });
});
