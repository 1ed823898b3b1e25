import type { Pattern } from "../src/grammar/pattern.ts";
import { preferredPlace } from "./element-order.ts";
import type { SimpleGrammar } from "./simplify.ts";

/**
 * What an element can be at one place of the document: all of the grammar's elements of that name that may stand there,
 * taken together. `<source>` of a file disk and of a network disk are different elements of the grammar but one type.
 */
export interface ElementType {
  readonly name: string;
  readonly namespace: string;
  readonly attributes: ReadonlyMap<string, readonly Pattern[]>;
  /** In an order that satisfies every sequence that the grammar asks for. */
  readonly children: readonly ChildElement[];
  /** Patterns of the element's own text; none when it has no text. */
  readonly text: readonly Pattern[];
}

export interface ChildElement {
  readonly type: ElementType;
  readonly repeated: boolean;
}

/** Finds the types from the document's root downwards, each once. The first is the root's. */
export function findElementTypes(grammar: SimpleGrammar): ElementType[] {
  return new TypeFinder(grammar).find();
}

interface MutableType extends ElementType {
  children: ChildElement[];
}

interface ChildUse {
  readonly elements: Set<number>;
  repeated: boolean;
}

class TypeFinder {
  private readonly grammar: SimpleGrammar;
  private readonly types = new Map<string, MutableType>();
  private readonly unread: { type: MutableType; contents: Pattern[] }[] = [];

  constructor(grammar: SimpleGrammar) {
    this.grammar = grammar;
  }

  find(): ElementType[] {
    this.typeOf(new Set(this.grammar.starts.map((start) => start.index)));
    for (let next = this.unread.shift(); next !== undefined; next = this.unread.shift()) this.addChildren(next);
    return [...this.types.values()];
  }

  private typeOf(elements: ReadonlySet<number>): ElementType {
    const indexes = [...elements].sort((left, right) => left - right);
    const key = indexes.join(",");
    const known = this.types.get(key);
    if (known !== undefined) return known;
    const members = indexes.map((index) => {
      const element = this.grammar.elements[index];
      if (element === undefined) throw new Error(`there is no element ${index}`);
      return element;
    });
    const [first] = members;
    if (first === undefined) throw new Error("a type needs an element");
    const attributes = new Map<string, Pattern[]>();
    const text = new Set<Pattern>();
    for (const member of members) collectAttributesAndText(member.content, attributes, text);
    const type = { name: first.name, namespace: first.namespace, attributes, children: [], text: [...text] };
    this.types.set(key, type);
    this.unread.push({ type, contents: members.map((member) => member.content) });
    return type;
  }

  private addChildren({ type, contents }: { type: MutableType; contents: readonly Pattern[] }): void {
    const uses = new Map<string, ChildUse>();
    const order = new Map<string, Set<string>>();
    for (const content of contents) {
      const counts = this.count(content, uses);
      for (const [name, count] of counts) if (count > 1) this.use(uses, name).repeated = true;
      this.collectOrder(content, order);
    }
    const place = (name: string) => preferredPlace(type.name, name.slice(name.indexOf(" ") + 1));
    const preferred = [...uses.keys()].sort((left, right) => place(left) - place(right));
    for (const name of sorted(preferred, order, type.name)) {
      const use = this.use(uses, name);
      type.children.push({ type: this.typeOf(use.elements), repeated: use.repeated });
    }
  }

  private use(uses: Map<string, ChildUse>, name: string): ChildUse {
    const use = uses.get(name) ?? { elements: new Set(), repeated: false };
    uses.set(name, use);
    return use;
  }

  private nameOf(index: number): string {
    const element = this.grammar.elements[index];
    return `${element?.namespace} ${element?.name}`;
  }

  /** How often each child may stand there at most (2 means more than once), and which elements it may be. */
  private count(pattern: Pattern, uses: Map<string, ChildUse>): Map<string, number> {
    if (pattern.kind === "element") {
      const name = this.nameOf(pattern.index);
      this.use(uses, name).elements.add(pattern.index);
      return new Map([[name, 1]]);
    }
    const total = new Map<string, number>();
    if (pattern.kind === "attribute") return total;
    for (const part of pattern.parts) {
      for (const [name, count] of this.count(part, uses)) {
        const before = total.get(name) ?? 0;
        const sum = pattern.kind === "choice" ? Math.max(before, count) : before + count;
        total.set(name, pattern.kind === "oneOrMore" ? 2 : sum);
      }
    }
    return total;
  }

  private collectOrder(pattern: Pattern, order: Map<string, Set<string>>): Set<string> {
    if (pattern.kind === "element") return new Set([this.nameOf(pattern.index)]);
    const all = new Set<string>();
    if (pattern.kind === "attribute") return all;
    for (const part of pattern.parts) {
      const names = this.collectOrder(part, order);
      if (pattern.kind === "group") {
        for (const later of names) {
          const earlier = order.get(later) ?? new Set<string>();
          for (const name of all) if (name !== later) earlier.add(name);
          order.set(later, earlier);
        }
      }
      for (const name of names) all.add(name);
    }
    return all;
  }
}

function collectAttributesAndText(pattern: Pattern, attributes: Map<string, Pattern[]>, text: Set<Pattern>): void {
  if (pattern.kind === "attribute") {
    const values = attributes.get(pattern.name) ?? [];
    for (const part of pattern.parts) if (!values.includes(part)) values.push(part);
    attributes.set(pattern.name, values);
  } else if (pattern.kind === "text" || pattern.kind === "data" || pattern.kind === "value") {
    text.add(pattern);
  } else {
    for (const part of pattern.parts) collectAttributesAndText(part, attributes, text);
  }
}

/** Stable topological sort; the grammar must not ask for an order that one sequence of names cannot satisfy. */
function sorted(names: readonly string[], order: ReadonlyMap<string, ReadonlySet<string>>, parent: string): string[] {
  const rest = [...names];
  const result: string[] = [];
  while (rest.length > 0) {
    const next = rest.findIndex((name) => !rest.some((other) => other !== name && order.get(name)?.has(other)));
    if (next === -1) throw new Error(`<${parent}> orders its children in a circle: ${rest.join(", ")}`);
    result.push(...rest.splice(next, 1));
  }
  return result;
}
