import { formatPointer } from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { Domain } from "../gen/domain.ts";
import { escapeAttribute, escapeText, isXmlName } from "../xml/escape-xml.ts";
import type { XmlElement } from "../xml/xml-element.ts";
import { domainElement, elementModel, namespaces, type ElementModel, type PropertyModel } from "./element-model.ts";
import {
  describe,
  maxPathLength,
  partsOf,
  scalarText,
  type ElementExtras,
  type ElementParts,
} from "./element-parts.ts";

/**
 * Writes the model as libvirt's domain XML. The order is that of the schema, so equal models give equal texts however
 * they were built. Throws at the first value that XML cannot say (`DomainModelUnwritable` with its path); whether
 * libvirt would accept the result is `validateDomain`'s question.
 */
export function writeDomain(domain: Domain): string {
  return new DomainWriter().write(domain);
}

/** How an element begins and ends, with the declaration of its namespace if it makes one. */
interface Tags {
  readonly opening: string;
  readonly closing: string;
  /** Prefix of an element in one of libvirt's other namespaces. */
  readonly prefix?: string;
}

class DomainWriter {
  private output = "";
  private readonly path: (string | number)[] = [];
  private rootNamespaces: ReadonlyMap<string, string> = new Map();
  private readonly report = (path: readonly (string | number)[], problem: string): void => this.fail(problem, path);

  write(domain: Domain): string {
    const parts = partsOf(domain, elementModel(domainElement), this.report);
    const bound = new Map<string, string>();
    for (const [name, value] of parts.extras.attributes) if (name.startsWith("xmlns:")) bound.set(name.slice(6), value);
    let declare = "";
    for (const prefix of impliedPrefixes(parts)) {
      if (bound.has(prefix)) continue;
      bound.set(prefix, namespaces[prefix] ?? "");
      declare += ` xmlns:${prefix}='${namespaces[prefix]}'`;
    }
    this.rootNamespaces = bound;
    this.output = `<domain${declare}`;
    this.element({ opening: "", closing: "</domain>" }, parts, "", "\n");
    return `${this.output}\n`;
  }

  private fail(problem: string, below: readonly (string | number)[] = []): never {
    const path = formatPointer([...this.path, ...below]);
    throw errors.DomainModelUnwritable(`write domain: ${path} ${problem}`, { fields: { path } });
  }

  /** `before` comes before the start tag, `indent` before the end tag: a line break and spaces, or nothing beside text. */
  private element(tags: Tags, parts: ElementParts, before: string, indent: string): void {
    const { attributes, attributeValues, children, childValues, extras } = parts;
    let tag = before + tags.opening;
    for (let index = 0; index < attributes.length; index += 1) {
      const attribute = attributes[index];
      if (attribute === undefined) continue;
      const value = escapeAttribute(attributeValues[index] ?? "") ?? this.unholdable([attribute.property]);
      tag += `${attribute.opening}${value}'`;
    }
    if (extras.attributes.length > 0) tag += this.extraAttributes(extras.attributes, ["$attributes"]);
    const text = parts.text === undefined ? "" : (escapeText(parts.text) ?? this.unholdable(["value"]));
    if (children.length === 0 && extras.elements.length === 0) {
      this.output += text === "" ? `${tag}/>` : `${tag}>${text}${tags.closing}`;
      return;
    }
    this.output += `${tag}>${text}`;
    // Beside text, line breaks would become part of it.
    const inner = text === "" && indent !== "" ? `${indent}  ` : "";
    for (let index = 0; index < children.length; index += 1) {
      const child = children[index];
      if (child !== undefined) this.children(child, childValues[index], tags.prefix, inner);
    }
    for (let index = 0; index < extras.elements.length; index += 1) {
      const extra = extras.elements[index];
      if (extra !== undefined) this.extraElement(extra, inner, ["$elements", index]);
    }
    this.output += inner === "" ? tags.closing : indent + tags.closing;
  }

  private children(property: PropertyModel, value: unknown, outer: string | undefined, indent: string): void {
    if (this.path.length > maxPathLength) this.fail("is nested too deep");
    this.path.push(property.property);
    if (property.kind === "list" && Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        this.path.push(index);
        this.child(property, value[index], outer, indent);
        this.path.pop();
      }
    } else {
      this.child(property, value, outer, indent);
    }
    this.path.pop();
  }

  /** `outer` is the parent's prefix if it is in one of libvirt's other namespaces itself. */
  private child(property: PropertyModel, value: unknown, outer: string | undefined, indent: string): void {
    const model = elementModel(property.element);
    if (model.scalar) {
      const text = scalarText(value) ?? this.fail(`must be a string or an integer, not ${describe(value)}`);
      const escaped = escapeText(text) ?? this.unholdable([]);
      const { opening, closing } = property.foreign ? this.foreignTags(property, undefined, outer) : property;
      this.output += escaped === "" ? `${indent}${opening}/>` : `${indent}${opening}>${escaped}${closing}`;
      return;
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.fail(`must be an object, not ${describe(value)}`);
    }
    if (!property.foreign && this.plainElement(property, value, model, indent)) return;
    const parts = partsOf(value, model, this.report);
    this.element(property.foreign ? this.foreignTags(property, parts.extras, outer) : property, parts, indent, indent);
  }

  /**
   * Writes what nearly every element is, without taking it apart first: known attributes in written order, then children.
   * Returns false, with nothing written, for anything else; most of the time would go into lists made for nothing.
   */
  private plainElement(tags: Tags, value: object, model: ElementModel, indent: string): boolean {
    // Any key of any object may be asked for; what it holds is checked below.
    const record = value as Record<string, unknown>;
    let tag = indent + tags.opening;
    let text = "";
    let order = -1;
    let children: PropertyModel[] | undefined;
    for (const key in record) {
      const entry = record[key];
      if (entry === undefined) continue;
      const property = model.properties.get(key);
      if (property === undefined) return false;
      if (property.kind === "attribute") {
        const escaped = typeof entry === "string" ? escapeAttribute(entry) : scalarText(entry);
        // One that cannot be written is reported by the long way.
        if (escaped === undefined || property.order < order) return false;
        order = property.order;
        tag += `${property.opening}${escaped}'`;
      } else if (property.kind === "text") {
        const escaped = typeof entry === "string" ? escapeText(entry) : scalarText(entry);
        if (escaped === undefined) return false;
        text = escaped;
      } else {
        const last = children?.[children.length - 1];
        if (last !== undefined && last.order > property.order) return false;
        if (property.kind === "list" && !Array.isArray(entry)) return false;
        (children ??= []).push(property);
      }
    }
    if (children === undefined) {
      this.output += text === "" ? `${tag}/>` : `${tag}>${text}${tags.closing}`;
      return true;
    }
    this.output += `${tag}>${text}`;
    const inner = text === "" && indent !== "" ? `${indent}  ` : "";
    for (const child of children) this.children(child, record[child.property], undefined, inner);
    this.output += inner === "" ? tags.closing : indent + tags.closing;
    return true;
  }

  /** Tags with the prefix that the model or the parent asks for, declared if nothing around has done so. */
  private foreignTags(property: PropertyModel, extras: ElementExtras | undefined, outer: string | undefined): Tags {
    const colon = property.name.indexOf(":");
    const usual = property.name.slice(0, colon);
    const local = property.name.slice(colon + 1);
    const prefix = extras?.prefix ?? outer ?? usual;
    if (prefix !== "" && !isXmlName(prefix)) this.fail("is not a prefix that XML can have", ["$prefix"]);
    const attribute = prefix === "" ? "xmlns" : `xmlns:${prefix}`;
    const namespace = namespaces[usual] ?? "";
    const declared =
      prefix === outer ||
      extras?.attributes.some(([name]) => name === attribute) === true ||
      this.rootNamespaces.get(prefix) === namespace;
    const name = prefix === "" ? local : `${prefix}:${local}`;
    const declare = declared ? "" : ` ${attribute}='${namespace}'`;
    return { opening: `<${name}${declare}`, closing: `</${name}>`, prefix };
  }

  private extraAttributes(
    attributes: readonly (readonly [string, string])[],
    below: readonly (string | number)[],
  ): string {
    let written = "";
    for (const [name, value] of attributes) {
      if (!isXmlName(name)) this.fail("is not a name that XML can have", [...below, name]);
      written += ` ${name}='${escapeAttribute(value) ?? this.unholdable([...below, name])}'`;
    }
    return written;
  }

  private extraElement(element: XmlElement, indent: string, below: readonly (string | number)[]): void {
    const { name, attributes = {}, children = [] } = element;
    if (!isXmlName(name)) this.fail(`has the name ${JSON.stringify(name)}, which XML cannot have`, below);
    const tag = `${indent}<${name}${this.extraAttributes(Object.entries(attributes), [...below, "attributes"])}`;
    if (children.length === 0) {
      this.output += `${tag}/>`;
      return;
    }
    this.output += `${tag}>`;
    const mixed = indent === "" || children.some((child) => typeof child === "string");
    for (const [index, child] of children.entries()) {
      const at = [...below, "children", index];
      if (typeof child === "string") this.output += escapeText(child) ?? this.unholdable(at);
      else this.extraElement(child, mixed ? "" : `${indent}  `, at);
    }
    this.output += mixed ? `</${name}>` : `${indent}</${name}>`;
  }

  private unholdable(below: readonly (string | number)[]): never {
    this.fail("has a character that XML cannot hold", below);
  }
}

/** Usual prefixes of children in other namespaces that do not bring a declaration of their own. */
function impliedPrefixes(parts: ElementParts): Set<string> {
  const prefixes = new Set<string>();
  for (const [index, property] of parts.children.entries()) {
    if (!property.foreign) continue;
    const prefix = property.name.slice(0, property.name.indexOf(":"));
    const value = parts.childValues[index];
    const own: Domain = typeof value === "object" && value !== null ? value : {};
    if (own.$prefix === undefined && own.$attributes?.[`xmlns:${prefix}`] === undefined) prefixes.add(prefix);
  }
  return prefixes;
}
