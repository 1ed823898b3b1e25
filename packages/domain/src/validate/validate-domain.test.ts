import { describe, expect, it } from "vitest";
import type { Domain } from "../gen/domain.ts";
import { readDomain } from "../model/read-domain.ts";
import { writeDomain } from "../model/write-domain.ts";
import { assertValidDomain, validateDomain } from "./validate-domain.ts";

/** The smallest machine that is of interest, with a change. */
function machine(change: (domain: Domain & { devices: NonNullable<Domain["devices"]> }) => void = () => {}): Domain {
  const domain = {
    type: "kvm",
    name: "vm",
    uuid: "0d8a4b1c-6b0e-4c53-9f0a-0a6c1e0f2b3d",
    memory: { value: 256, unit: "MiB" },
    vcpu: { value: 1, placement: "static" },
    os: { type: { value: "hvm", arch: "x86_64", machine: "q35" } },
    devices: {
      emulator: "/usr/bin/qemu-system-x86_64",
      disks: [
        {
          type: "file",
          device: "disk",
          driver: { name: "qemu", type: "qcow2", cache: "none" },
          source: { file: "/disk.qcow2" },
          target: { dev: "vda", bus: "virtio" },
        },
      ],
      serials: [{ type: "unix", sources: [{ mode: "bind", path: "/serial0" }], target: { port: "0" } }],
    },
  } satisfies Domain;
  change(domain);
  return domain;
}

function firstDisk(domain: Domain) {
  const disk = domain.devices?.disks?.[0];
  if (disk === undefined) throw new Error("the machine has a disk");
  return disk;
}

describe("validateDomain", () => {
  it("accepts a machine, also after it went through XML", () => {
    expect(validateDomain(machine())).toEqual([]);
    expect(validateDomain(readDomain(writeDomain(machine())))).toEqual([]);
  });

  it("names the path and the allowed values", () => {
    const [problem] = validateDomain(machine((domain) => (firstDisk(domain).target = { dev: "vda", bus: "bogus" })));
    expect(problem).toEqual({
      path: "/devices/disks/0/target/bus",
      problem: expect.stringMatching(/^must be one of "ide", .*"virtio".*, not "bogus"$/),
      allowed: expect.arrayContaining(["virtio", "sata", "scsi"]),
    });
  });

  it.each<[string, (domain: Domain & { devices: NonNullable<Domain["devices"]> }) => void, string]>([
    ["a missing element", (d) => delete d.name, "/ needs name"],
    ["a missing attribute", (d) => delete d.type, "/ needs type"],
    [
      "a text that is no integer",
      (d) => (d.vcpu = { value: "many" }),
      "/vcpu/value must be an integer from 1 to 65535, not",
    ],
    ["an integer out of range", (d) => (d.vcpu = { value: 0 }), "/vcpu/value must be an integer from 1"],
    [
      "an empty element that needs text",
      (d) => (d.memory = {}),
      '/memory/value must be an integer from 0 to 18446744073709551615, not ""',
    ],
    ["text of the wrong form", (d) => (d.uuid = "x"), "/uuid must be text like "],
    [
      "an unknown property",
      (d) => Object.assign(d.devices, { disk: [] }),
      "/devices/disk is not a property here; allowed are ",
    ],
    ["a wrong shape", (d) => Object.assign(d.devices, { disks: {} }), "/devices/disks must be a list, not an object"],
    [
      "an attribute that goes with another type",
      (d) => (firstDisk(d).source = { dev: "/dev/x" }),
      "/devices/disks/0/source/dev is not allowed here; allowed there are file,",
    ],
    [
      "an element that goes with another type",
      (d) => (firstDisk(d).source = { file: "/x", hosts: [{ name: "h" }] }),
      "/devices/disks/0/source/hosts/0 is not allowed here; allowed there are ",
    ],
    [
      "an unknown attribute",
      (d) => (d.$attributes = { a: "x" }),
      "/$attributes/a is not allowed here; allowed there is id",
    ],
    [
      "an unknown element",
      (d) => (d.$elements = [{ name: "a" }]),
      "/$elements/0 <a> is not known to libvirt's schema here",
    ],
    ["text where none belongs", (d) => (d.devices.$text = "x"), "/devices/value must have no text"],
  ])("refuses %s", (_, change, expected) => {
    const problems = validateDomain(machine(change)).map(({ path, problem }) => `${path} ${problem}`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
  });

  it("goes on after a problem and reports them all, up to a limit", () => {
    const domain = machine((d) => {
      d.vcpu = { value: 0 };
      firstDisk(d).device = "tape";
      firstDisk(d).target = { dev: "vda", bus: "bogus" };
      d.devices.serials = [{ type: "unix", target: { type: "x" } }];
    });
    expect(validateDomain(domain).map(({ path }) => path)).toEqual([
      "/vcpu/value",
      "/devices/disks/0/device",
      "/devices/disks/0/target/bus",
      "/devices/serials/0/target/type",
    ]);
    expect(validateDomain(domain, { maxProblems: 2 })).toHaveLength(2);
  });

  it("takes anything in metadata, and namespace declarations anywhere", () => {
    const domain = machine((d) => {
      d.metadata = {
        $elements: [{ name: "a:b", attributes: { "xmlns:a": "urn:a", c: "d" }, children: ["x", { name: "y" }] }],
      };
      firstDisk(d).$attributes = { "xmlns:z": "urn:z" };
    });
    expect(validateDomain(domain)).toEqual([]);
  });

  it("knows libvirt's other namespaces", () => {
    expect(validateDomain(machine((d) => (d.qemuCommandline = { args: [{ value: "-S" }] })))).toEqual([]);
    const [problem] = validateDomain(machine((d) => (d.qemuCommandline = { args: [{}] })));
    expect(problem).toMatchObject({ path: "/qemuCommandline/args/0", problem: "needs value" });
  });

  it.each([
    ["9.0.0", 1],
    ["8.0.0", 1],
    ["9.0.1", 0],
    ["12.8.0", 0],
    ["99.0.0", 0],
    [undefined, 0],
  ])("judges by the schema of libvirt %s", (libvirt, problems) => {
    // <iommufd> is younger than libvirt 9.
    const domain = machine((d) => (d.iommufd = { enabled: "yes" }));
    expect(validateDomain(domain, libvirt === undefined ? {} : { libvirt })).toHaveLength(problems);
  });

  it.each<[unknown]>([[null], ["x"], [[]], [7]])("refuses %j as a domain", (value) => {
    // The point is what the type does not allow.
    expect(validateDomain(value as Domain)[0]).toMatchObject({
      path: "/",
      problem: expect.stringContaining("must be an object"),
    });
  });
});

describe("assertValidDomain", () => {
  it("throws with every problem", () => {
    expect(() => assertValidDomain(machine())).not.toThrow();
    expect(() => assertValidDomain(machine((d) => (d.vcpu = { value: 0 })))).toThrowError(
      expect.objectContaining({
        code: "DomainInvalid",
        message: expect.stringMatching(/^validate domain vm: \/vcpu\/value must/),
        fields: { paths: ["/vcpu/value"] },
      }),
    );
  });
});
