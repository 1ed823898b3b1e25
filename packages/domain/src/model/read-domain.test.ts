import { describe, expect, it } from "vitest";
import { readDomain } from "./read-domain.ts";
import { writeDomain } from "./write-domain.ts";

function inDomain(content: string, attributes = ""): string {
  return `<domain type='kvm'${attributes}>${content}</domain>`;
}

function read(content: string, attributes = "") {
  return readDomain(inDomain(content, attributes));
}

describe("readDomain", () => {
  it("names attributes, elements, lists and texts in lowerCamel with plural lists", () => {
    const domain = read(`
      <name>vm</name>
      <memory unit='KiB'>1024</memory>
      <on_poweroff>destroy</on_poweroff>
      <os><type arch='x86_64' machine='q35'>hvm</type><boot dev='hd'/><boot dev='network'/></os>
      <features><acpi/><hyperv mode='custom'><vendor_id state='on' value='x'/></hyperv></features>
      <devices>
        <emulator>/usr/bin/qemu</emulator>
        <disk type='file' device='disk'>
          <driver name='qemu' error_policy='stop'/>
          <source file='/disk.img'/>
          <target dev='vda' bus='virtio'/>
          <readonly/>
          <serial>abc</serial>
        </disk>
        <graphics type='vnc' port='-1'><listen type='address'/></graphics>
        <memory model='dimm'><target><size>1</size></target></memory>
      </devices>`);
    expect(domain).toEqual({
      type: "kvm",
      name: "vm",
      memory: { unit: "KiB", value: 1024 },
      onPoweroff: "destroy",
      os: { type: { arch: "x86_64", machine: "q35", value: "hvm" }, bootDevices: [{ dev: "hd" }, { dev: "network" }] },
      features: { acpi: {}, hyperv: { mode: "custom", vendorId: { state: "on", value: "x" } } },
      devices: {
        emulator: "/usr/bin/qemu",
        disks: [
          {
            type: "file",
            device: "disk",
            driver: { name: "qemu", errorPolicy: "stop" },
            source: { file: "/disk.img" },
            target: { dev: "vda", bus: "virtio" },
            readonly: {},
            serial: "abc",
          },
        ],
        graphics: [{ type: "vnc", port: -1, listens: [{ type: "address" }] }],
        memorydevs: [{ model: "dimm", target: { size: { value: 1 } } }],
      },
    });
  });

  it("tells an element from the attribute of the same name", () => {
    const xml = inDomain(
      "<os firmware='efi'><firmware><feature name='secure-boot' enabled='no'/></firmware></os>" +
        "<devices><controller type='pci' model='pcie-root-port'><model name='ioh3420'/></controller>" +
        "<interface type='udp'><source address='127.0.0.1' port='1'/></interface></devices>",
    );
    const domain = readDomain(xml);
    expect(domain.os).toEqual({
      firmware: "efi",
      firmwareInfo: { features: [{ name: "secure-boot", enabled: "no" }] },
    });
    expect(domain.devices?.controllers).toEqual([
      { type: "pci", model: "pcie-root-port", modelInfo: { name: "ioh3420" } },
    ]);
    expect(domain.devices?.interfaces?.[0]?.source).toEqual({ ipAddress: "127.0.0.1", port: 1 });
    expect(readDomain(writeDomain(domain))).toEqual(domain);
  });

  it.each([
    ["1", 1],
    ["0", 0],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", "9007199254740992"],
    ["18446744073709551615", "18446744073709551615"],
    ["007", "007"],
    ["+1", "+1"],
    ["-0", "-0"],
    ["1e3", "1e3"],
    [" 1 ", " 1 "],
    ["", undefined],
  ])("reads the integer %j as %j and writes it back", (text, value) => {
    const domain = read(`<vcpu>${text}</vcpu>`);
    expect(domain.vcpu).toEqual(value === undefined ? {} : { value });
    expect(writeDomain(domain)).toContain(text === "" ? "<vcpu/>" : `<vcpu>${text}</vcpu>`);
  });

  it("keeps text as it is where libvirt wants text", () => {
    const domain = read("<name>007</name><title> a  b\n</title><description><![CDATA[1 < 2]]> &amp; 3</description>");
    expect(domain).toMatchObject({ name: "007", title: " a  b\n", description: "1 < 2 & 3" });
    expect(readDomain(writeDomain(domain))).toEqual(domain);
  });

  it("keeps unknown attributes and elements wherever they stand", () => {
    const xml = inDomain(
      "<name>a</name><name>b</name><future a='1'>t<b/>u</future>" +
        "<devices><disk type='file' future_attribute='x'><target dev='vda' x:y='z'/><zzz/></disk></devices>",
      " xmlns:x='urn:x'",
    );
    const domain = readDomain(xml);
    expect(domain.name).toBe("a");
    expect(domain.$attributes).toEqual({ "xmlns:x": "urn:x" });
    expect(domain.$elements).toEqual([
      { name: "name", children: ["b"] },
      { name: "future", attributes: { a: "1" }, children: ["t", { name: "b" }, "u"] },
    ]);
    expect(domain.devices?.disks?.[0]).toEqual({
      type: "file",
      target: { dev: "vda", $attributes: { "x:y": "z" } },
      $attributes: { future_attribute: "x" },
      $elements: [{ name: "zzz" }],
    });
    expect(readDomain(writeDomain(domain))).toEqual(domain);
  });

  it("keeps a text element whole when it has what a plain value cannot hold, and the order of its list", () => {
    const domain = read(
      "<os><initarg>1</initarg><initarg new='x'>2</initarg><initarg>3</initarg></os>" +
        "<devices><emulator kind='y'>/q</emulator></devices>",
    );
    expect(domain.os).toEqual({
      initargs: ["1"],
      $elements: [
        { name: "initarg", attributes: { new: "x" }, children: ["2"] },
        { name: "initarg", children: ["3"] },
      ],
    });
    expect(domain.devices).toEqual({
      $elements: [{ name: "emulator", attributes: { kind: "y" }, children: ["/q"] }],
    });
    expect(writeDomain(domain)).toMatch(/<initarg>1<.*<initarg new='x'>2<.*<initarg>3</s);
  });

  it("keeps text where none belongs, and drops white space there", () => {
    expect(read("<devices>\n  stray\n</devices>").devices).toEqual({ $text: "\n  stray\n" });
    expect(read("<devices>\n</devices>").devices).toEqual({});
    const mixed = read("<features>stray<acpi/></features>");
    expect(mixed.features).toEqual({ $text: "stray", acpi: {} });
    expect(readDomain(writeDomain(mixed))).toEqual(mixed);
  });

  it("keeps metadata in its order, mixed content and white space in it included", () => {
    const domain = read(
      "<metadata>\n <b:one xmlns:b='urn:b'>\n  <b:x/>\n </b:one>\n <two xmlns='urn:t'> a <i>b</i> </two>\n" +
        " <three xml:space='preserve'> <x/> </three>\n <four>  </four>\n</metadata>",
    );
    expect(domain.metadata?.$elements).toEqual([
      { name: "b:one", attributes: { "xmlns:b": "urn:b" }, children: [{ name: "b:x" }] },
      { name: "two", attributes: { xmlns: "urn:t" }, children: [" a ", { name: "i", children: ["b"] }, " "] },
      { name: "three", attributes: { "xml:space": "preserve" }, children: [" ", { name: "x" }, " "] },
      { name: "four", children: ["  "] },
    ]);
    expect(readDomain(writeDomain(domain))).toEqual(domain);
  });

  it("drops comments and processing instructions", () => {
    expect(read("<!-- c --><name>a<!-- c -->b</name><?x y?>")).toEqual({ type: "kvm", name: "ab" });
  });

  it("survives names that mean something to JavaScript", () => {
    const domain = read("<devices __proto__='x' constructor='y'/>");
    expect(Object.entries(domain.devices?.$attributes ?? {})).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(writeDomain(JSON.parse(JSON.stringify(domain)))).toContain("__proto__='x' constructor='y'");
  });

  it.each([
    ["<network/>", "line 1:1: the root is <network>, not libvirt's <domain>"],
    ["\n <domain xmlns='urn:x'/>", "line 2:2: the root is <domain>"],
    ["<x:domain xmlns:x='urn:x'/>", "the root is <x:domain>"],
  ])("refuses %j", (xml, message) => {
    expect(() => readDomain(xml)).toThrowError(message);
  });
});

describe("namespaces of libvirt", () => {
  const qemu = "http://libvirt.org/schemas/domain/qemu/1.0";
  const content = { args: [{ value: "-foo" }], envs: [{ name: "A", value: "b" }] };

  it("become properties, and the declaration is implied", () => {
    const domain = read(
      "<qemu:commandline><qemu:arg value='-foo'/><qemu:env name='A' value='b'/></qemu:commandline>",
      ` xmlns:qemu='${qemu}'`,
    );
    expect(domain).toEqual({ type: "kvm", qemuCommandline: content });
    expect(writeDomain(domain)).toBe(
      `<domain xmlns:qemu='${qemu}' type='kvm'>\n  <qemu:commandline>\n    <qemu:arg value='-foo'/>\n` +
        "    <qemu:env name='A' value='b'/>\n  </qemu:commandline>\n</domain>\n",
    );
  });

  it.each([
    ["another prefix", `<q:commandline><q:arg value='-foo'/></q:commandline>`, ` xmlns:q='${qemu}'`],
    ["the default namespace", `<commandline xmlns='${qemu}'><arg value='-foo'/></commandline>`, ""],
    [
      "a declaration on the spot",
      `<qemu:commandline xmlns:qemu='${qemu}'><qemu:arg value='-foo'/></qemu:commandline>`,
      "",
    ],
    [
      "a prefix that means something else outside",
      `<qemu:commandline xmlns:qemu='${qemu}'><qemu:arg value='-foo'/></qemu:commandline>`,
      " xmlns:qemu='urn:dummy'",
    ],
    ["two prefixes", `<a:commandline xmlns:a='${qemu}'><b:arg xmlns:b='${qemu}' value='-foo'/></a:commandline>`, ""],
  ])("are recognised with %s, which is kept", (_, body, attributes) => {
    const domain = read(body, attributes);
    expect(domain.qemuCommandline?.args).toMatchObject([{ value: "-foo" }]);
    const written = writeDomain(domain);
    expect(
      written
        .replace(/\n\s*/g, "")
        .replaceAll("/>", ">")
        .replaceAll(/<\/[\w:]*>/g, ""),
    ).toBe(
      inDomain(body, attributes)
        .replace(/<domain type='kvm'( [^>]*)?>/, "<domain type='kvm'$1>")
        .replace(/(<b:arg)( xmlns:b='[^']*')( value='-foo')/, "$1$3$2")
        .replaceAll("/>", ">")
        .replaceAll(/<\/[\w:]*>/g, ""),
    );
    expect(readDomain(written)).toEqual(domain);
  });

  it("of others stay what they are, also when nothing declares them", () => {
    const domain = read("<qemu:commandline/><x:y/>");
    expect(domain.$elements).toEqual([{ name: "qemu:commandline" }, { name: "x:y" }]);
  });

  it("keeps a declaration that nothing uses", () => {
    expect(read("", ` xmlns:qemu='${qemu}'`).$attributes).toEqual({ "xmlns:qemu": qemu });
  });
});
