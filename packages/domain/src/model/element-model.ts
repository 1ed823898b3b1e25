import { elementTable, namespaces } from "../gen/domain-model.ts";

/** How one kind of element stands in the model. */
export interface ElementModel {
  /** The element's own text: none, or under `value`. A scalar element is its text alone. */
  readonly text: "none" | "string" | "integer";
  readonly scalar: boolean;
  readonly attributes: ReadonlyMap<string, PropertyModel>;
  /** By name as the table has it: `disk`, `qemu:arg`. */
  readonly children: ReadonlyMap<string, PropertyModel>;
  readonly properties: ReadonlyMap<string, PropertyModel>;
}

export interface PropertyModel {
  readonly property: string;
  readonly kind: "attribute" | "child" | "list" | "text";
  /** Name in XML, with the usual prefix of its namespace. */
  readonly name: string;
  /** Whether plain decimal numbers become numbers (attributes). */
  readonly integer: boolean;
  /** Index of a child's own model; `elementModel` gives it. */
  readonly element: number;
  /** Place among the attributes or the children in written XML. */
  readonly order: number;
  /** Whether it is an element of one of libvirt's other namespaces. */
  readonly foreign: boolean;
  /** What written XML begins with: ` bus='` or `<disk`. */
  readonly opening: string;
  /** A child's end tag. */
  readonly closing: string;
}

const noChild = { element: -1, foreign: false, opening: "", closing: "" } as const;

type Entry = [text: number, attributes: string[], children: [name: string, element: number, property?: string][]];

const decoded: (ElementModel | undefined)[] = [];

/** The table's elements are decoded one by one as documents use them: few machines use more than a tenth. */
export function elementModel(index: number): ElementModel {
  const known = decoded[index];
  if (known !== undefined) return known;
  // The generator wrote the entry in exactly this form.
  const model = decode(JSON.parse(elementTable[index] ?? "[0,[],[]]") as Entry);
  decoded[index] = model;
  return model;
}

/** Index of `<domain>`. */
export const domainElement = 0;

/** Usual prefix by namespace: `qemu`, `lxc`, … */
export const prefixOfNamespace: ReadonlyMap<string, string> = new Map(
  Object.entries(namespaces).map(([prefix, namespace]) => [namespace, prefix]),
);

export { namespaces };

function decode([text, attributes, children]: Entry): ElementModel {
  const model = {
    text: text === 0 ? ("none" as const) : Math.abs(text) === 1 ? ("string" as const) : ("integer" as const),
    scalar: text < 0,
    attributes: new Map<string, PropertyModel>(),
    children: new Map<string, PropertyModel>(),
    properties: new Map<string, PropertyModel>(),
  };
  for (const [order, entry] of attributes.entries()) {
    const integer = entry.startsWith("#");
    const [property = "", name = property] = (integer ? entry.slice(1) : entry).split("=");
    const opening = ` ${name}='`;
    const attribute: PropertyModel = { ...noChild, property, kind: "attribute", name, integer, order, opening };
    model.attributes.set(name, attribute);
    model.properties.set(property, attribute);
  }
  if (model.text !== "none") {
    const integer = model.text === "integer";
    model.properties.set("value", { ...noChild, property: "value", kind: "text", name: "", integer, order: -1 });
  }
  for (const [order, [entry, element, given]] of children.entries()) {
    const repeated = entry.startsWith("+");
    const name = repeated ? entry.slice(1) : entry;
    const property = given ?? name;
    const kind = repeated ? "list" : "child";
    const foreign = name.includes(":");
    const tags = { opening: `<${name}`, closing: `</${name}>` };
    const child: PropertyModel = { property, kind, name, integer: false, element, order, foreign, ...tags };
    model.children.set(name, child);
    model.properties.set(property, child);
  }
  return model;
}
