import { formatPointer } from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { Domain } from "../gen/domain.ts";
import { escapeAttribute, escapeText, isXmlName } from "../xml/escape-xml.ts";
import type { XmlElement } from "../xml/xml-element.ts";
import { domainElement, elementModel, namespaces, type ElementModel, type PropertyModel } from "./element-model.ts";
import { describe, partsOf, scalarText, type ElementParts } from "./element-parts.ts";

/**
 * Writes the model as libvirt's domain XML. The order is that of the schema, so equal models give equal texts however
 * they were built. Throws at the first value that XML cannot say (`DomainModelUnwritable` with its path); whether
 * libvirt would accept the result is `validateDomain`'s question.
 */
export function writeDomain(domain: Domain): string {
  return new DomainWriter().write(domain);
}

/** Prefix of the element itself and what the root declares. */
interface NamespaceUse {
  readonly prefix: string | undefined;
  readonly declare: string;
}

class DomainWriter {
  private readonly lines: string[] = [];
  private readonly path: (string | number)[] = [];
  private rootNamespaces: ReadonlyMap<string, string> = new Map();

  write(domain: Domain): string {
    const model = elementModel(domainElement);
    const parts = this.parts(domain, model);
    const bound = new Map(
      parts.extraAttributes
        .filter(([name]) => name.startsWith("xmlns:"))
        .map(([name, value]) => [name.slice(6), value]),
    );
    let declare = "";
    for (const prefix of this.impliedPrefixes(parts)) {
      if (bound.has(prefix)) continue;
      bound.set(prefix, namespaces[prefix] ?? "");
      declare += ` xmlns:${prefix}='${namespaces[prefix]}'`;
    }
    this.rootNamespaces = bound;
    this.element("domain", parts, { prefix: undefined, declare }, "");
    return `${this.lines.join("\n")}\n`;
  }

  /** Usual prefixes of children in other namespaces that do not bring a declaration of their own. */
  private impliedPrefixes(parts: ElementParts): Set<string> {
    const prefixes = new Set<string>();
    for (const { property, value } of parts.children) {
      const colon = property.name.indexOf(":");
      if (colon === -1) continue;
      const prefix = property.name.slice(0, colon);
      const own = typeof value === "object" && value !== null ? (value as Domain) : {};
      if (own.$prefix === undefined && own.$attributes?.[`xmlns:${prefix}`] === undefined) prefixes.add(prefix);
    }
    return prefixes;
  }

  private fail(problem: string, below: readonly (string | number)[] = []): never {
    const path = formatPointer([...this.path, ...below]);
    throw errors.DomainModelUnwritable(`write domain: ${path} ${problem}`, { fields: { path } });
  }

  private parts(value: object, model: ElementModel): ElementParts {
    return partsOf(value, model, (path, problem) => this.fail(problem, path));
  }

  private element(name: string, parts: ElementParts, use: NamespaceUse, indent: string): void {
    let tag = `${indent}<${name}${use.declare}`;
    for (const { property, value } of parts.attributes) {
      tag += ` ${property.name}='${this.escaped(escapeAttribute(value), [property.property])}'`;
    }
    for (const [extra, value] of parts.extraAttributes) {
      const below = ["$attributes", extra];
      if (!isXmlName(extra)) this.fail("is not a name that XML can have", below);
      tag += ` ${extra}='${this.escaped(escapeAttribute(value), below)}'`;
    }
    const text = parts.text === undefined ? "" : this.escaped(escapeText(parts.text), ["value"]);
    if (parts.children.length === 0 && parts.extraElements.length === 0) {
      this.lines.push(text === "" ? `${tag}/>` : `${tag}>${text}</${name}>`);
      return;
    }
    const start = this.lines.push(`${tag}>${text}`) - 1;
    this.content(parts, use, `${indent}  `);
    this.lines.push(`${indent}</${name}>`);
    // Beside text, line breaks would become part of it.
    if (text !== "") this.lines.push(this.lines.splice(start).map(unindented).join(""));
  }

  private content(parts: ElementParts, use: NamespaceUse, indent: string): void {
    for (const child of parts.children) {
      this.path.push(child.property.property);
      if (child.index !== undefined) this.path.push(child.index);
      this.child(child.property, child.value, use, indent);
      this.path.length -= child.index === undefined ? 1 : 2;
    }
    for (const [index, element] of parts.extraElements.entries()) {
      this.lines.push(indent + this.vendorElement(element, indent, ["$elements", index]));
    }
  }

  private child(property: PropertyModel, value: unknown, outer: NamespaceUse, indent: string): void {
    const model = elementModel(property.element);
    if (model.scalar) {
      const text = scalarText(value);
      if (text === undefined) this.fail(`must be a string or an integer, not ${describe(value)}`);
      const { name, declare } = this.named(property, undefined, outer);
      const escaped = this.escaped(escapeText(text), []);
      this.lines.push(
        escaped === "" ? `${indent}<${name}${declare}/>` : `${indent}<${name}${declare}>${escaped}</${name}>`,
      );
      return;
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.fail(`must be an object, not ${describe(value)}`);
    }
    const parts = this.parts(value, model);
    const { name, prefix, declare } = this.named(property, parts, outer);
    this.element(name, parts, { prefix, declare }, indent);
  }

  /** The name as written, with a declaration of its namespace if nothing around it has one. */
  private named(
    property: PropertyModel,
    parts: ElementParts | undefined,
    outer: NamespaceUse,
  ): { name: string; prefix: string | undefined; declare: string } {
    const colon = property.name.indexOf(":");
    if (colon === -1) return { name: property.name, prefix: undefined, declare: "" };
    const usual = property.name.slice(0, colon);
    const local = property.name.slice(colon + 1);
    const prefix = parts?.prefix ?? outer.prefix ?? usual;
    const name = prefix === "" ? local : `${prefix}:${local}`;
    if (prefix !== "" && !isXmlName(prefix)) this.fail("is not a prefix that XML can have", ["$prefix"]);
    const attribute = prefix === "" ? "xmlns" : `xmlns:${prefix}`;
    const namespace = namespaces[usual] ?? "";
    const declared =
      prefix === outer.prefix ||
      parts?.extraAttributes.some(([extra]) => extra === attribute) === true ||
      this.rootNamespaces.get(prefix) === namespace;
    return { name, prefix, declare: declared ? "" : ` ${attribute}='${namespace}'` };
  }

  private vendorElement(element: XmlElement, indent: string, below: readonly (string | number)[]): string {
    if (!isXmlName(element.name))
      this.fail(`has the name ${JSON.stringify(element.name)}, which XML cannot have`, below);
    let tag = `<${element.name}`;
    for (const [name, value] of Object.entries(element.attributes ?? {})) {
      if (!isXmlName(name)) this.fail("is not a name that XML can have", [...below, "attributes", name]);
      tag += ` ${name}='${this.escaped(escapeAttribute(value), [...below, "attributes", name])}'`;
    }
    const children = element.children ?? [];
    if (children.length === 0) return `${tag}/>`;
    const mixed = children.some((child) => typeof child === "string");
    const inner = mixed ? "" : `\n${indent}  `;
    let content = "";
    for (const [index, child] of children.entries()) {
      const at = [...below, "children", index];
      if (typeof child === "string") content += this.escaped(escapeText(child), at);
      else content += inner + this.vendorElement(child, `${indent}  `, at);
    }
    return `${tag}>${content}${mixed ? "" : `\n${indent}`}</${element.name}>`;
  }

  private escaped(text: string | undefined, below: readonly (string | number)[]): string {
    if (text === undefined) this.fail("has a character that XML cannot hold", below);
    return text;
  }
}

function unindented(line: string, index: number): string {
  return index === 0 ? line : line.trimStart();
}
