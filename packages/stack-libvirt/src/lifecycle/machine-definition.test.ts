import { describe, expect, it } from "vitest";
import { readDomain } from "@polyvirt/domain";
import { definitionXml, deviceXml } from "./machine-definition.ts";

describe("a definition for libvirt", () => {
  it("has an emulator, and an id that depends on the name alone", () => {
    const arm = { type: "qemu", name: "default_vm", os: { type: { value: "hvm", arch: "aarch64" } } };
    const [one, two] = [readDomain(definitionXml(arm)), readDomain(definitionXml({ ...arm, title: "moved" }))];
    expect(one.devices?.emulator).toBe("/usr/bin/qemu-system-aarch64");
    expect(one.uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(two.uuid).toBe(one.uuid);
    expect(readDomain(definitionXml({ ...arm, name: "other" })).uuid).not.toBe(one.uuid);
  });

  it("keeps what it says itself", () => {
    const own = { name: "vm", uuid: "11111111-2222-4333-8444-555555555555", devices: { emulator: "/opt/qemu" } };
    expect(readDomain(definitionXml(own))).toMatchObject(own);
  });
});

it("a device stands by itself", () => {
  const xml = deviceXml({ disks: [{ type: "file", target: { dev: "sda", bus: "scsi" } }] });
  expect(xml).toMatch(/^<disk type=['"]file['"]>[^]*<\/disk>$/);
});
