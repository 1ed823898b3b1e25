import type { XmlElement } from "../xml/xml-element.ts";
import type { ElementModel, PropertyModel } from "./element-model.ts";

/**
 * An element of the model taken apart the way XML sees it. Writer and validation both work from this, and spend their
 * time making it, so it is lists side by side rather than lists of objects.
 */
export interface ElementParts {
  /** Known attributes in the order in which they are written, and their values. */
  readonly attributes: readonly PropertyModel[];
  readonly attributeValues: readonly string[];
  /** Known children in the order in which they are written, and their values: arrays for those of kind `list`. */
  readonly children: readonly PropertyModel[];
  readonly childValues: readonly unknown[];
  readonly text: string | undefined;
  readonly extras: ElementExtras;
}

/** What `DomainExtras` holds, checked. */
export interface ElementExtras {
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly elements: readonly XmlElement[];
  readonly text: string | undefined;
  readonly prefix: string | undefined;
}

type MutableExtras = { -readonly [Key in keyof ElementExtras]: ElementExtras[Key] };

const noExtras: ElementExtras = { attributes: [], elements: [], text: undefined, prefix: undefined };

/** Receives what is wrong with the shape of a value. The path is relative to the element: properties and indexes. */
export type ReportShape = (path: readonly (string | number)[], problem: string) => void;

/** Takes an object of the model apart. What has the wrong shape is reported and left out. */
export function partsOf(value: object, model: ElementModel, report: ReportShape): ElementParts {
  let attributes: PropertyModel[] | undefined;
  let attributeValues: string[] | undefined;
  let children: PropertyModel[] | undefined;
  let childValues: unknown[] | undefined;
  let extras: MutableExtras | undefined;
  let text: string | undefined;
  // Any key of any object may be asked for; what it holds is checked below. for-in is by far the fastest way through
  // objects of many shapes.
  const record = value as Record<string, unknown>;
  for (const key in record) {
    const entry = record[key];
    if (entry === undefined) continue;
    const property = model.properties.get(key);
    if (property === undefined) {
      extras ??= { ...noExtras };
      if (!collectExtra(key, entry, extras, report)) report([key], `is not a property here; ${allowed(model)}`);
    } else if (property.kind === "attribute" || property.kind === "text") {
      const scalar = typeof entry === "string" ? entry : scalarText(entry);
      if (scalar === undefined) report([key], `must be a string or an integer, not ${describe(entry)}`);
      else if (property.kind === "text") text = scalar;
      else place((attributes ??= []), (attributeValues ??= []), property, scalar);
    } else if (property.kind === "child" || Array.isArray(entry)) {
      place((children ??= []), (childValues ??= []), property, entry);
    } else {
      report([key], `must be a list, not ${describe(entry)}`);
    }
  }
  if (extras?.text !== undefined) text = (text ?? "") + extras.text;
  return {
    attributes: attributes ?? none,
    attributeValues: attributeValues ?? none,
    children: children ?? none,
    childValues: childValues ?? none,
    text,
    extras: extras ?? noExtras,
  };
}

const none: readonly never[] = [];

/** Inserts in written order, from the end: models come nearly sorted. */
function place<T>(properties: PropertyModel[], values: T[], property: PropertyModel, value: T): void {
  let at = properties.length;
  properties.push(property);
  values.push(value);
  for (; at > 0; at -= 1) {
    const before = properties[at - 1];
    if (before === undefined || before.order <= property.order) break;
    properties[at] = before;
    // Both lists are of one length.
    values[at] = values[at - 1] as T;
  }
  properties[at] = property;
  values[at] = value;
}

function collectExtra(key: string, entry: unknown, extras: MutableExtras, report: ReportShape): boolean {
  if (key === "$attributes") {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
      report([key], `must be an object, not ${describe(entry)}`);
      return true;
    }
    const attributes: [string, string][] = [];
    for (const [name, value] of Object.entries(entry)) {
      if (typeof value === "string") attributes.push([name, value]);
      else report([key, name], `must be a string, not ${describe(value)}`);
    }
    extras.attributes = attributes;
  } else if (key === "$elements") {
    if (!Array.isArray(entry)) report([key], `must be a list, not ${describe(entry)}`);
    else extras.elements = entry.filter((element, index) => checkElement(element, [key, index], report));
  } else if (key === "$text" || key === "$prefix") {
    if (typeof entry !== "string") report([key], `must be a string, not ${describe(entry)}`);
    else if (key === "$text") extras.text = entry;
    else extras.prefix = entry;
  } else {
    return false;
  }
  return true;
}

/** Segments that a path may have: models from outside can be nested without end, and everything here is recursive. */
export const maxPathLength = 512;

function checkElement(element: unknown, path: (string | number)[], report: ReportShape): element is XmlElement {
  if (path.length > maxPathLength) {
    report(path.slice(0, 2), "is nested too deep");
    return false;
  }
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
