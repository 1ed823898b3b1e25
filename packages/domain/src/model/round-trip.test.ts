import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readXml, type XmlNode } from "../xml/read-xml.ts";
import { readDomain } from "./read-domain.ts";
import { writeDomain } from "./write-domain.ts";

// libvirt's own test domains, where they are at hand.
const corpus = new URL("../../../../../shared/libvirt/domains/", import.meta.url);

/**
 * One text per document, equal when the documents mean the same: attributes sorted, children sorted by name with those
 * of equal names in order, no white space beside elements.
 */
function canonical(node: XmlNode): string {
  const attributes: string[] = [];
  for (let index = 0; index < node.attributes.length; index += 2) {
    attributes.push(` ${node.attributes[index]}=${JSON.stringify(node.attributes[index + 1])}`);
  }
  const elements = node.children.filter((child) => typeof child !== "string");
  const text = node.children.filter((child) => typeof child === "string").join("");
  const children =
    text.trim() === ""
      ? elements.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)).map(canonical)
      : node.children.map((child) => (typeof child === "string" ? child : canonical(child)));
  return `<${node.name}${attributes.toSorted().join("")}>${children.join("\n")}</${node.name}>`;
}

function throughJson(xml: string): string {
  return writeDomain(JSON.parse(JSON.stringify(readDomain(xml))));
}

describe.skipIf(!existsSync(corpus))("libvirt's test domains", { timeout: 60_000 }, () => {
  const files = existsSync(corpus) ? readdirSync(corpus).filter((file) => file.endsWith(".xml")) : [];

  it("survive XML to model to JSON to model to XML", () => {
    const lost: string[] = [];
    for (const file of files) {
      const xml = readFileSync(new URL(file, corpus), "utf8");
      // The one file that is meant not to be XML.
      if (file === "broken-xml-invalid.xml") continue;
      if (canonical(readXml(throughJson(xml))) !== canonical(readXml(xml))) lost.push(file);
    }
    expect(lost).toEqual([]);
    expect(files.length).toBeGreaterThan(1000);
  });

  it("reads what it wrote as the same model, and writes that as the same text", () => {
    for (const file of files) {
      if (file === "broken-xml-invalid.xml") continue;
      const domain = readDomain(readFileSync(new URL(file, corpus), "utf8"));
      const written = writeDomain(domain);
      const again = readDomain(written);
      expect({ file, domain: again }).toEqual({ file, domain });
      expect(writeDomain(again)).toBe(written);
    }
  });
});
