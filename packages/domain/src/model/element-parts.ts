import type { XmlElement } from "../xml/xml-element.ts";
import type { ElementModel, PropertyModel } from "./element-model.ts";

/** An element of the model taken apart the way XML sees it. Writer and validation both work from this. */
export interface ElementParts {
  /** Known attributes in the order in which they are written. */
  readonly attributes: readonly AttributePart[];
  /** Known children in the order in which they are written. */
  readonly children: readonly ChildPart[];
  readonly text: string | undefined;
  readonly extraAttributes: readonly (readonly [name: string, value: string])[];
  readonly extraElements: readonly XmlElement[];
  readonly prefix: string | undefined;
}

export interface AttributePart {
  readonly property: PropertyModel;
  readonly value: string;
}

export interface ChildPart {
  readonly property: PropertyModel;
  readonly value: unknown;
  /** Place in its list; `undefined` for one that may stand only once. */
  readonly index: number | undefined;
}

/** Receives what is wrong with the shape of a value. The path is relative to the element: properties and indexes. */
export type ReportShape = (path: readonly (string | number)[], problem: string) => void;

/** Takes an object of the model apart. What has the wrong shape is reported and left out. */
export function partsOf(value: object, model: ElementModel, report: ReportShape): ElementParts {
  const attributes: AttributePart[] = [];
  const children: ChildPart[] = [];
  const extras: Extras = { attributes: [], elements: [], text: undefined, prefix: undefined };
  let text: string | undefined;
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    const property = model.properties.get(key);
    if (property === undefined) {
      if (!collectExtra(key, entry, extras, report)) report([key], `is not a property here; ${allowed(model)}`);
    } else if (property.kind === "child") {
      children.push({ property, value: entry, index: undefined });
    } else if (property.kind === "list") {
      if (Array.isArray(entry)) {
        for (const [index, item] of entry.entries()) children.push({ property, value: item, index });
      } else {
        report([key], `must be a list, not ${describe(entry)}`);
      }
    } else {
      const scalar = scalarText(entry);
      if (scalar === undefined) report([key], `must be a string or an integer, not ${describe(entry)}`);
      else if (property.kind === "text") text = scalar;
      else attributes.push({ property, value: scalar });
    }
  }
  // Stable, so lists keep their order.
  if (children.length > 1) children.sort(byOrder);
  if (attributes.length > 1) attributes.sort(byOrder);
  return {
    attributes,
    children,
    text: extras.text === undefined ? text : (text ?? "") + extras.text,
    extraAttributes: extras.attributes,
    extraElements: extras.elements,
    prefix: extras.prefix,
  };
}

function byOrder(left: { property: PropertyModel }, right: { property: PropertyModel }): number {
  return left.property.order - right.property.order;
}

interface Extras {
  attributes: [string, string][];
  elements: XmlElement[];
  text: string | undefined;
  prefix: string | undefined;
}

function collectExtra(key: string, entry: unknown, extras: Extras, report: ReportShape): boolean {
  if (key === "$attributes") {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
      report([key], `must be an object, not ${describe(entry)}`);
      return true;
    }
    for (const [name, value] of Object.entries(entry)) {
      if (typeof value === "string") extras.attributes.push([name, value]);
      else report([key, name], `must be a string, not ${describe(value)}`);
    }
  } else if (key === "$elements") {
    if (!Array.isArray(entry)) report([key], `must be a list, not ${describe(entry)}`);
    else for (const [index, element] of entry.entries()) collectElement(element, extras, [key, index], report);
  } else if (key === "$text" || key === "$prefix") {
    if (typeof entry !== "string") report([key], `must be a string, not ${describe(entry)}`);
    else if (key === "$text") extras.text = entry;
    else extras.prefix = entry;
  } else {
    return false;
  }
  return true;
}

function collectElement(element: unknown, extras: Extras, path: (string | number)[], report: ReportShape): void {
  if (checkElement(element, path, report)) extras.elements.push(element);
}

function checkElement(element: unknown, path: (string | number)[], report: ReportShape): element is XmlElement {
  if (typeof element !== "object" || element === null || !("name" in element) || typeof element.name !== "string") {
    report(path, `must be an element with a name, not ${describe(element)}`);
    return false;
  }
  const attributes = "attributes" in element ? (element.attributes ?? {}) : {};
  const children = "children" in element ? (element.children ?? []) : [];
  if (typeof attributes !== "object" || Object.values(attributes).some((value) => typeof value !== "string")) {
    report([...path, "attributes"], "must be an object of strings");
    return false;
  }
  if (!Array.isArray(children)) {
    report([...path, "children"], `must be a list, not ${describe(children)}`);
    return false;
  }
  return children.every(
    (child: unknown, index) => typeof child === "string" || checkElement(child, [...path, "children", index], report),
  );
}

/** The text of a scalar; `undefined` for what is none. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : undefined;
}

export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return JSON.stringify(value) ?? typeof value;
}

function allowed(model: ElementModel): string {
  const names = [...model.properties.keys()];
  return names.length === 0 ? "none is" : `allowed are ${names.sort().join(", ")}`;
}
