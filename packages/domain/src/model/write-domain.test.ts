import { describe, expect, it } from "vitest";
import type { Domain } from "../gen/domain.ts";
import { validateDomain } from "../validate/validate-domain.ts";
import { writeDomain } from "./write-domain.ts";

describe("writeDomain", () => {
  it("writes the schema's order, whatever order the model was built in", () => {
    const domain: Domain = {
      devices: { disks: [{ target: { bus: "virtio", dev: "vda" }, type: "file" }], emulator: "/q" },
      memory: { value: 1024, unit: "MiB" },
      name: "vm",
      type: "kvm",
    };
    expect(writeDomain(domain)).toBe(
      [
        "<domain type='kvm'>",
        "  <name>vm</name>",
        "  <memory unit='MiB'>1024</memory>",
        "  <devices>",
        "    <emulator>/q</emulator>",
        "    <disk type='file'>",
        "      <target dev='vda' bus='virtio'/>",
        "    </disk>",
        "  </devices>",
        "</domain>",
        "",
      ].join("\n"),
    );
  });

  it("leaves out what is undefined and takes numbers for any text", () => {
    // A number is welcome where the type says text: JSON from plug-ins has them.
    const domain = { name: 7, title: undefined, devices: { disks: undefined } } as unknown as Domain;
    expect(writeDomain(domain)).toBe("<domain>\n  <name>7</name>\n  <devices/>\n</domain>\n");
  });

  it("escapes text and attributes so that they read back the same", () => {
    const domain: Domain = { title: "<a> & ']]>\r\n\t", os: { loader: { type: "'\"<&>\n\t\r", value: "ü😀" } } };
    expect(writeDomain(domain)).toBe(
      "<domain>\n  <title>&lt;a&gt; &amp; ']]&gt;&#13;\n\t</title>\n" +
        "  <os>\n    <loader type='&apos;\"&lt;&amp;&gt;&#10;&#9;&#13;'>ü😀</loader>\n  </os>\n</domain>\n",
    );
  });

  // Models come from plug-ins too: nothing is silently left out, and nothing can break out of the XML.
  it.each<[unknown, string]>([
    [{ devices: { disk: [] } }, "/devices/disk is not a property here; allowed are audios,"],
    [{ devices: { disks: {} } }, "/devices/disks must be a list, not an object"],
    [{ devices: { disks: ["x"] } }, '/devices/disks/0 must be an object, not "x"'],
    [{ devices: { disks: [null] } }, "/devices/disks/0 must be an object, not null"],
    [{ name: true }, "/name must be a string or an integer, not true"],
    [{ name: null }, "/name must be a string or an integer, not null"],
    [{ vcpu: { value: 1.5 } }, "/vcpu/value must be a string or an integer, not 1.5"],
    [{ vcpu: 1 }, "/vcpu must be an object, not 1"],
    [{ memory: { unit: {} } }, "/memory/unit must be a string or an integer, not an object"],
    [{ name: "a\u0000b" }, "/name has a character that XML cannot hold"],
    [{ memory: { unit: "\ud800" } }, "/memory/unit has a character that XML cannot hold"],
    [{ $attributes: { "a='1' b": "x" } }, "/$attributes/a='1' b is not a name that XML can have"],
    [{ $attributes: { a: 1 } }, "/$attributes/a must be a string, not 1"],
    [{ $elements: [{ name: "a><b" }] }, '/$elements/0 has the name "a><b", which XML cannot have'],
    [{ $elements: [{ name: "a", attributes: { "x y": "" } }] }, "/$elements/0/attributes/x y is not a name"],
    [{ $elements: [{ name: "a", children: [{}] }] }, "/$elements/0/children/0 must be an element with a name"],
    [{ $elements: [{ name: "a", children: "x" }] }, '/$elements/0/children must be a list, not "x"'],
    [{ $elements: {} }, "/$elements must be a list, not an object"],
    [{ $text: 1 }, "/$text must be a string, not 1"],
    [{ qemuCommandline: { $prefix: "a b" } }, "/qemuCommandline/$prefix is not a prefix that XML can have"],
    [{ $other: 1 }, "/$other is not a property here"],
  ])("refuses %j", (domain, message) => {
    // The point is what the type does not allow.
    expect(() => writeDomain(domain as Domain)).toThrowError(`write domain: ${message}`);
  });

  it("refuses models that are nested without end", () => {
    const chain: Domain = { devices: { disks: [{}] } };
    let holder: { backingStore?: object | undefined } = chain.devices?.disks?.[0] ?? {};
    let element = { name: "a", children: [] as object[] };
    const vendor = { $elements: [element] } as Domain;
    for (let depth = 0; depth < 5000; depth += 1) {
      holder.backingStore = holder = {};
      const next = { name: "a", children: [] };
      element.children.push(next);
      element = next;
    }
    expect(() => writeDomain(chain)).toThrowError("backingStore is nested too deep");
    const problems = validateDomain(chain, { maxProblems: 10_000 });
    expect(problems.map(({ problem }) => problem)).toContain("is nested too deep");
    expect(() => writeDomain(vendor)).toThrowError("/$elements/0 is nested too deep");
  });
});
