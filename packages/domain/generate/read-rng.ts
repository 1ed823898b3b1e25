import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readXml, type XmlNode } from "../src/xml/read-xml.ts";

/** A RELAX NG grammar with its includes resolved: what starts it, and its definitions by name. */
export interface RngGrammar {
  readonly start: XmlNode;
  readonly definitions: ReadonlyMap<string, readonly RngDefinition[]>;
}

interface RngDefinition {
  readonly combine: "choice" | "interleave" | undefined;
  readonly patterns: readonly XmlNode[];
}

export function attributeOf(node: XmlNode, name: string): string | undefined {
  const index = node.attributes.indexOf(name);
  return index === -1 || index % 2 === 1 ? undefined : node.attributes[index + 1];
}

export function elementsOf(node: XmlNode): XmlNode[] {
  return node.children.filter((child) => typeof child !== "string");
}

/** Reads a grammar file and everything that it includes. Only what libvirt's schemas use is understood. */
export function readRng(folder: string, file: string): RngGrammar {
  const definitions = new Map<string, RngDefinition[]>();
  let start: XmlNode | undefined;
  const load = (name: string) => {
    for (const node of elementsOf(readXml(readFileSync(join(folder, name), "utf8")))) {
      if (node.name === "include") {
        if (elementsOf(node).length > 0) throw new Error(`${name}: <include> with overrides is not understood`);
        load(required(node, "href"));
      } else if (node.name === "start") {
        start = node;
      } else if (node.name === "define") {
        const key = required(node, "name");
        const combine = attributeOf(node, "combine");
        if (combine !== undefined && combine !== "choice" && combine !== "interleave") {
          throw new Error(`${name}: combine="${combine}" is not understood`);
        }
        definitions.set(key, [...(definitions.get(key) ?? []), { combine, patterns: elementsOf(node) }]);
      } else {
        throw new Error(`${name}: <${node.name}> is not understood`);
      }
    }
  };
  load(file);
  if (start === undefined) throw new Error(`${file} has no <start>`);
  return { start, definitions };
}

export function required(node: XmlNode, name: string): string {
  const value = attributeOf(node, name);
  if (value === undefined) throw new Error(`<${node.name}> has no ${name}`);
  return value;
}
