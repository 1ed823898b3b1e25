import { describe, expect, it } from "vitest";
import type { Domain } from "../gen/domain.ts";
import { checkDomainPath, diffDomains, getDomainValue, patchDomain, setDomainValue } from "./domain-paths.ts";

const domain: Domain = {
  name: "vm",
  devices: { disks: [{ type: "file", target: { dev: "vda", bus: "sata" } }] },
};

describe("paths into a domain", () => {
  it.each(["/spec/devices/disks/0/target/bus", "/devices/disks/0/target/bus"])("reads %s", (path) => {
    expect(getDomainValue(domain, path)).toBe("sata");
  });

  it("names the whole domain", () => {
    expect(getDomainValue(domain, "/spec")).toBe(domain);
    expect(getDomainValue(domain, "/spec/os/type")).toBeUndefined();
  });

  it("sets values in a copy and makes what lies on the way", () => {
    const changed = setDomainValue(domain, "/spec/devices/disks/0/target/bus", "virtio");
    expect(getDomainValue(changed, "/devices/disks/0/target/bus")).toBe("virtio");
    expect(getDomainValue(domain, "/devices/disks/0/target/bus")).toBe("sata");
    expect(setDomainValue({}, "/devices/serials/-", { type: "pty" })).toEqual({
      devices: { serials: [{ type: "pty" }] },
    });
    expect(setDomainValue({}, "/spec/os/type/value", "hvm")).toEqual({ os: { type: { value: "hvm" } } });
    expect(setDomainValue({}, "/$attributes/a", "x")).toEqual({ $attributes: { a: "x" } });
  });

  it("applies and computes patches with the hooks' paths", () => {
    const changed = patchDomain(domain, [
      { op: "add", path: "/spec/devices/disks/-", value: { type: "block" } },
      { op: "replace", path: "/spec/devices/disks/0/target/bus", value: "virtio" },
      { op: "copy", from: "/spec/name", path: "/spec/title" },
    ]);
    expect(changed).toEqual({
      name: "vm",
      title: "vm",
      devices: { disks: [{ type: "file", target: { dev: "vda", bus: "virtio" } }, { type: "block" }] },
    });
    const patch = diffDomains(domain, changed);
    expect(patch.every(({ path }) => path.startsWith("/spec/"))).toBe(true);
    expect(patchDomain(domain, patch)).toEqual(changed);
  });

  it("knows which paths there are", () => {
    expect(() => checkDomainPath("/spec/devices/disks/0/target/bus")).not.toThrow();
    expect(() => checkDomainPath("/spec/metadata/$elements/0/name")).not.toThrow();
    expect(() => checkDomainPath("/spec/devices/disk")).toThrowError(
      /find \/spec\/devices\/disk .*below \/devices there is .*disks/,
    );
    expect(() => checkDomainPath("/nme")).toThrowError("below the domain there is ");
    expect(() => checkDomainPath("/devices/disks/first")).toThrowError(
      "/devices/disks is a list, first is not a place in it",
    );
    expect(() => checkDomainPath("/name/first")).toThrowError("below /name there is nothing");
    expect(() => setDomainValue({}, "/nme", "x")).toThrowError(expect.objectContaining({ code: "DomainPathUnknown" }));
  });
});
