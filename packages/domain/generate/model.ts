import { isIntegerType } from "../src/grammar/datatype.ts";
import type { Pattern } from "../src/grammar/pattern.ts";
import { findElementTypes, type ElementType } from "./element-types.ts";
import {
  irregularTypeNames,
  isAny,
  isScalar,
  namespacePrefix,
  pascalCase,
  propertyOfAttribute,
  propertyOfChild,
} from "./naming.ts";
import type { SimpleGrammar } from "./simplify.ts";

/** The model of one element: the properties that stand for its attributes, text and children. */
export interface ModelType {
  /** Name of the TypeScript interface. */
  readonly typeName: string;
  readonly element: ElementType;
  readonly attributes: readonly { property: string; name: string; scalar: ScalarType }[];
  readonly text: ScalarType | undefined;
  readonly children: readonly { property: string; repeated: boolean; type: ModelType }[];
}

/** What a text can be: `integer` becomes a number where that loses nothing; `values` are the named ones, if any. */
export interface ScalarType {
  readonly integer: boolean;
  readonly values: readonly string[];
  /** Whether texts other than the named values are allowed too. */
  readonly open: boolean;
}

/** The model types of a grammar, the document's root first. */
export function deriveModel(grammar: SimpleGrammar): ModelType[] {
  const elements = findElementTypes(grammar).filter((type) => !isAny(type));
  const names = nameTypes(elements);
  const models = new Map<
    ElementType,
    ModelType & { children: { property: string; repeated: boolean; type: ModelType }[] }
  >();
  for (const element of elements) {
    models.set(element, {
      typeName: names.get(element) ?? "",
      element,
      attributes: [...element.attributes].map(([name, patterns]) => ({
        property: propertyOfAttribute(element, name),
        name,
        scalar: scalarOf(patterns, grammar),
      })),
      text: element.text.length === 0 ? undefined : scalarOf(element.text, grammar),
      children: [],
    });
  }
  for (const model of models.values()) {
    for (const child of model.element.children) {
      const type = models.get(child.type);
      if (type === undefined) continue;
      model.children.push({ property: propertyOfChild(model.element, child), repeated: child.repeated, type });
    }
    checkProperties(model);
  }
  return [...models.values()];
}

function checkProperties(model: ModelType): void {
  const seen = new Set(model.text === undefined || isScalar(model.element) ? [] : ["value"]);
  for (const { property } of [...model.attributes, ...model.children]) {
    if (seen.has(property)) throw new Error(`<${model.element.name}> has two of ${property}: name one in naming.ts`);
    seen.add(property);
  }
}

function scalarOf(patterns: readonly Pattern[], grammar: SimpleGrammar): ScalarType {
  const values = new Set<string>();
  let integer = false;
  let open = false;
  const collect = (pattern: Pattern) => {
    if (pattern.kind === "value") values.add(pattern.name);
    else if (pattern.kind === "data") {
      open = true;
      integer ||= isIntegerType(grammar.datatypes[pattern.index]?.type ?? "");
    } else if (pattern.kind === "text") open = true;
    else for (const part of pattern.parts) collect(part);
  };
  for (const pattern of patterns) collect(pattern);
  // Values like "1" and "2" are numbers to whoever writes them, but only where nothing but numbers is allowed.
  const numeric = !open && values.size > 0 && [...values].every((value) => /^(?:0|[1-9][0-9]*)$/.test(value));
  return { integer: integer || numeric, values: numeric ? [] : [...values], open: open || numeric };
}

/** Interfaces are named after where their element stands: `DomainDisk`, `DomainDiskSource`; shared ones `DomainAlias`. */
function nameTypes(elements: readonly ElementType[]): Map<ElementType, string> {
  const parents = new Map<ElementType, Set<ElementType>>();
  for (const parent of elements) {
    for (const { type } of parent.children) parents.set(type, (parents.get(type) ?? new Set()).add(parent));
  }
  const names = new Map<ElementType, string>();
  const taken = new Set<string>();
  const give = (type: ElementType, candidates: readonly string[]) => {
    if (names.has(type)) return;
    const free = candidates.find((name) => !taken.has(name));
    let name = free ?? `${candidates.at(-1)}2`;
    for (let number = 3; taken.has(name); number += 1) name = `${candidates.at(-1)}${number}`;
    taken.add(name);
    names.set(type, name);
  };
  const [root] = elements;
  if (root === undefined) throw new Error("the grammar has no root");
  give(root, ["Domain"]);
  const devices = root.children.find((child) => child.type.name === "devices")?.type;
  for (const { type } of root.children) {
    const prefix = type.namespace === root.namespace ? "" : pascalCase(namespacePrefix(type.namespace));
    give(type, [`Domain${prefix}${pascalCase(type.name)}`]);
  }
  for (const { type } of devices?.children ?? []) {
    give(type, [`Domain${pascalCase(type.name)}`, `Domain${pascalCase(type.name)}Device`]);
  }
  for (const parent of elements) {
    for (const { type } of parent.children) {
      const irregular = irregularTypeNames[`${parent.name}/${type.name}`];
      if (irregular !== undefined) give(type, [irregular]);
    }
  }
  for (const parent of elements) {
    for (const { type } of parent.children) {
      const own = `${names.get(parent)}${pascalCase(type.name)}`;
      const shared = (parents.get(type)?.size ?? 0) > 5;
      give(type, shared ? [`Domain${pascalCase(type.name)}`, own] : [own]);
    }
  }
  return names;
}
