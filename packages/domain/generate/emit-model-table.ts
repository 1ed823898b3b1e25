import type { ModelType } from "./model.ts";
import { isScalar, namespacePrefix } from "./naming.ts";

/**
 * Writes the model as the table that reader and writer work from (decoded by src/model/element-model.ts). An element is
 * `[text, attributes, children]`: text is 0 none, 1 string, 2 integer, negative when there is nothing but text; an
 * attribute is `name` or `property=name`, with # in front of integers; a child is
 * `[name, element, property?]`, where + before the name means that it repeats.
 */
export function emitModelTable(types: readonly ModelType[], header: string): string {
  const indexes = numberBodies(types);
  const bodies: string[] = [];
  for (const type of types) {
    const index = indexes.get(type) ?? -1;
    if (index === bodies.length) bodies.push(JSON.stringify(body(type, indexes)));
  }
  const namespaces = new Map<string, string>();
  for (const { element } of types) {
    if (element.namespace !== "") namespaces.set(namespacePrefix(element.namespace), element.namespace);
  }
  return [
    header,
    "/** Prefix and name of libvirt's other namespaces. */",
    `export const namespaces: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(namespaces))};`,
    "/** One element per line; parsed when first needed. */",
    `export const elementTable: readonly string[] = [\n${bodies.map((text) => `  '${text}',`).join("\n")}\n];`,
    "",
  ].join("\n");
}

type Body = [number, string[], (string | number)[][]];

function body(type: ModelType, indexes: ReadonlyMap<ModelType, number>): Body {
  const text = type.text === undefined ? 0 : type.text.integer ? 2 : 1;
  return [
    isScalar(type.element) ? -text : text,
    type.attributes.map(({ property, name, scalar }) => (scalar.integer ? "#" : "") + renamed(property, name)),
    type.children.map(({ property, repeated, type: child }) => {
      const { name, namespace } = child.element;
      const qualified = namespace === "" ? name : `${namespacePrefix(namespace)}:${name}`;
      const entry = [(repeated ? "+" : "") + qualified, indexes.get(child) ?? -1];
      return property === qualified ? entry : [...entry, property];
    }),
  ];
}

function renamed(property: string, name: string): string {
  return property === name ? name : `${property}=${name}`;
}

/** Elements whose tables are equal share one: the same search for equal classes as in the grammar. */
function numberBodies(types: readonly ModelType[]): Map<ModelType, number> {
  let indexes = new Map<ModelType, number>(types.map((type) => [type, 0]));
  for (let count = 0; ;) {
    const numbers = new Map<string, number>();
    const next = new Map<ModelType, number>();
    for (const type of types) {
      const key = JSON.stringify(body(type, indexes));
      const number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      next.set(type, number);
    }
    indexes = next;
    if (numbers.size === count) return indexes;
    count = numbers.size;
  }
}
