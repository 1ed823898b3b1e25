import { errors } from "../errors.ts";
import type { Domain } from "../gen/domain.ts";
import { positionOf, readXml, type XmlLimits, type XmlNode } from "../xml/read-xml.ts";
import type { XmlElement } from "../xml/xml-element.ts";
import {
  domainElement,
  elementModel,
  prefixOfNamespace,
  type ElementModel,
  type PropertyModel,
} from "./element-model.ts";

/** What the model holds for an element while it is being read. */
type Draft = Record<string, unknown> & {
  $attributes?: Record<string, string>;
  $elements?: XmlElement[];
  $text?: string;
  $prefix?: string;
};

/** Namespaces in scope by prefix; `undefined` where none is declared, which is nearly everywhere. */
type Scope = ReadonlyMap<string, string> | undefined;

/**
 * Reads a libvirt `<domain>` into the model. Nothing is judged here: what the schema does not know is kept in
 * `$attributes`, `$elements` and `$text` (see `DomainExtras`), and `validateDomain` says what it thinks of it.
 * Dropped are comments, processing instructions, white space between elements, and the order among differently named
 * elements, none of which libvirt looks at.
 */
export function readDomain(xml: string, limits?: Partial<XmlLimits>): Domain {
  const root = readXml(xml, limits);
  const scope = scopeOf(root, undefined);
  if (root.name !== "domain" || (scope?.get("") ?? "") !== "") {
    const { line, column } = positionOf(xml, root.offset);
    throw errors.DomainXmlNotDomain(
      `read domain, line ${line}:${column}: the root is <${root.name}>, not libvirt's <domain>`,
    );
  }
  const domain = readElement(root, elementModel(domainElement), undefined, undefined);
  dropImpliedNamespaces(domain);
  return domain;
}

/** Declarations that the writer makes by itself are not kept. */
function dropImpliedNamespaces(domain: Draft): void {
  const attributes = domain.$attributes;
  if (attributes === undefined) return;
  for (const { property, name, foreign } of elementModel(domainElement).children.values()) {
    if (!foreign) continue;
    const child = domain[property];
    if (child === undefined) continue;
    const local = typeof child === "object" && child !== null ? (child as Draft) : {};
    if (local.$prefix !== undefined) continue;
    const prefix = name.slice(0, name.indexOf(":"));
    if (`xmlns:${prefix}` in (local.$attributes ?? {})) continue;
    delete attributes[`xmlns:${prefix}`];
  }
  if (Object.keys(attributes).length === 0) delete domain.$attributes;
}

function scopeOf(node: XmlNode, outer: Scope): Scope {
  let scope: Map<string, string> | undefined;
  for (let index = 0; index < node.attributes.length; index += 2) {
    const name = node.attributes[index] ?? "";
    if (!name.startsWith("xmlns")) continue;
    const prefix = name === "xmlns" ? "" : name.startsWith("xmlns:") ? name.slice(6) : undefined;
    if (prefix === undefined) continue;
    scope ??= new Map(outer);
    scope.set(prefix, node.attributes[index + 1] ?? "");
  }
  return scope ?? outer;
}

/** `prefix` is the element's own, if it is in one of libvirt's other namespaces. */
function readElement(node: XmlNode, model: ElementModel, outer: Scope, prefix: string | undefined): Draft {
  const draft: Draft = {};
  const scope = node.namespaced ? scopeOf(node, outer) : outer;
  const { attributes, children } = node;
  for (let index = 0; index < attributes.length; index += 2) {
    const name = attributes[index] ?? "";
    const value = attributes[index + 1] ?? "";
    const attribute = model.attributes.get(name);
    if (attribute !== undefined) draft[attribute.property] = scalarOf(value, attribute.integer);
    else setOwn((draft.$attributes ??= {}), name, value);
  }
  let text = "";
  let blank = true;
  let hasElements = false;
  let asWritten: Set<string> | undefined;
  for (const child of children) {
    if (typeof child === "string") {
      text += child;
      blank &&= isBlank(child);
    } else {
      hasElements = true;
      if (!readChild(draft, child, model, { scope, prefix, asWritten })) {
        (draft.$elements ??= []).push(toXmlElement(child));
        (asWritten ??= new Set()).add(child.name);
      }
    }
  }
  // White space is text only where there is nothing but text, and text is expected.
  if (!blank || (text !== "" && !hasElements && model.text !== "none")) {
    if (model.text === "none") draft.$text = text;
    else draft["value"] = scalarOf(text, model.text === "integer");
  }
  return draft;
}

/** What a child needs to know about its parent. */
interface Surroundings {
  readonly scope: Scope;
  /** The parent's prefix, if it is in one of libvirt's other namespaces. */
  readonly prefix: string | undefined;
  /** Names of elements that were kept as they are. */
  readonly asWritten: ReadonlySet<string> | undefined;
}

/** Puts a child under its property. False when it has none, or would lose something: it is then kept as it is. */
function readChild(draft: Draft, node: XmlNode, model: ElementModel, around: Surroundings): boolean {
  const { key, prefix } =
    around.scope === undefined && !node.namespaced
      ? { key: node.name, prefix: undefined }
      : resolveName(node, around.scope);
  const child = key === undefined ? undefined : model.children.get(key);
  return child !== undefined && placeChild(draft, node, child, prefix, around);
}

/** The name under which the table may know an element, and its prefix if that is of another namespace. */
function resolveName(node: XmlNode, outer: Scope): { key: string | undefined; prefix: string | undefined } {
  const colon = node.name.indexOf(":");
  const scope = node.namespaced ? scopeOf(node, outer) : outer;
  if (scope === undefined) return { key: colon === -1 ? node.name : undefined, prefix: undefined };
  const prefix = colon === -1 ? "" : node.name.slice(0, colon);
  const namespace = scope.get(prefix) ?? "";
  const usual = prefixOfNamespace.get(namespace);
  if (usual !== undefined) return { key: `${usual}:${node.name.slice(colon + 1)}`, prefix };
  return { key: colon === -1 && namespace === "" ? node.name : undefined, prefix: undefined };
}

function placeChild(
  draft: Draft,
  node: XmlNode,
  child: PropertyModel,
  prefix: string | undefined,
  around: Surroundings,
): boolean {
  if (child.kind === "child" && child.property in draft) return false;
  // Once one of a list was kept as it is, those after it are too: their order counts.
  if (child.kind === "list" && around.asWritten?.has(node.name) === true) return false;
  const usualPrefix =
    prefix === undefined ? undefined : (around.prefix ?? child.name.slice(0, child.name.indexOf(":")));
  const model = elementModel(child.element);
  let value: unknown;
  if (model.scalar) {
    const text = plainText(node);
    if (text === undefined || prefix !== usualPrefix) return false;
    value = scalarOf(text, model.text === "integer");
  } else {
    const element = readElement(node, model, around.scope, prefix);
    if (prefix !== undefined && prefix !== usualPrefix) element.$prefix = prefix;
    value = element;
  }
  if (child.kind === "child") {
    draft[child.property] = value;
  } else {
    // Only this function sets the property, always to an array.
    const list = (draft[child.property] ??= []) as unknown[];
    list.push(value);
  }
  return true;
}

/** The text of an element that has nothing else. */
function plainText(node: XmlNode): string | undefined {
  if (node.attributes.length > 0 || node.children.length > 1) return undefined;
  const [only = ""] = node.children;
  return typeof only === "string" ? only : undefined;
}

function scalarOf(text: string, integer: boolean): string | number {
  if (!integer || text.length > 16) return text;
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
}

function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code !== 32 && code !== 10 && code !== 9 && code !== 13) return false;
  }
  return true;
}

/** `__proto__` is a lawful attribute name; assigned the usual way it would vanish. */
function setOwn(record: Record<string, string>, name: string, value: string): void {
  if (name === "__proto__") {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    record[name] = value;
  }
}

/** An element as it is. White space between elements goes, unless there is other text beside it. */
function toXmlElement(node: XmlNode): XmlElement {
  const element: XmlElement = { name: node.name };
  for (let index = 0; index < node.attributes.length; index += 2) {
    setOwn((element.attributes ??= {}), node.attributes[index] ?? "", node.attributes[index + 1] ?? "");
  }
  const hasElements = node.children.some((child) => typeof child !== "string");
  const mixed =
    !hasElements ||
    element.attributes?.["xml:space"] === "preserve" ||
    node.children.some((child) => typeof child === "string" && !isBlank(child));
  const children: (XmlElement | string)[] = [];
  for (const child of node.children) {
    if (typeof child !== "string") children.push(toXmlElement(child));
    else if (mixed) children.push(child);
  }
  if (children.length > 0) element.children = children;
  return element;
}
