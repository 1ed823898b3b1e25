import { PatternPool, type Pattern } from "../src/grammar/pattern.ts";
import type { Datatype } from "../src/grammar/datatype.ts";
import type { XmlNode } from "../src/xml/read-xml.ts";
import { attributeOf, elementsOf, required, type RngGrammar } from "./read-rng.ts";

/** One kind of element: its name, its namespace and what it may hold. */
export interface GrammarElement {
  /** `*` for any name. */
  readonly name: string;
  readonly namespace: string;
  content: Pattern;
}

/** Several versions of one schema over shared patterns; `starts` has the pattern that begins each version. */
export interface SimpleGrammar {
  readonly pool: PatternPool;
  readonly elements: readonly GrammarElement[];
  readonly datatypes: readonly Datatype[];
  readonly starts: readonly Pattern[];
}

/** Turns RELAX NG as written into few kinds of patterns, with references resolved down to elements. */
export function simplify(grammars: readonly RngGrammar[]): SimpleGrammar {
  const pool = new PatternPool();
  const elements: GrammarElement[] = [];
  const datatypes: Datatype[] = [];
  const starts = grammars.map((grammar) => new Simplifier(grammar, pool, elements, datatypes).start());
  return mergeEqualElements({ pool, elements, datatypes, starts });
}

class Simplifier {
  private readonly grammar: RngGrammar;
  private readonly pool: PatternPool;
  private readonly elements: GrammarElement[];
  private readonly datatypes: Datatype[];
  private readonly resolved = new Map<string, Pattern>();
  private readonly elementOfNode = new Map<XmlNode, Pattern>();
  private readonly unread: { node: XmlNode; element: GrammarElement }[] = [];

  constructor(grammar: RngGrammar, pool: PatternPool, elements: GrammarElement[], datatypes: Datatype[]) {
    this.grammar = grammar;
    this.pool = pool;
    this.elements = elements;
    this.datatypes = datatypes;
  }

  start(): Pattern {
    const start = this.group(elementsOf(this.grammar.start));
    // Contents are read one after the other rather than on the way down: an element may contain itself.
    for (let next = this.unread.pop(); next !== undefined; next = this.unread.pop()) {
      next.element.content = this.group(
        elementsOf(next.node).filter((child) => child.name !== "anyName"),
        next.element.namespace,
      );
    }
    return start;
  }

  private group(nodes: readonly XmlNode[], namespace = ""): Pattern {
    return this.pool.group(this.patterns(nodes, namespace));
  }

  private patterns(nodes: readonly XmlNode[], namespace: string): Pattern[] {
    return nodes.map((node) => this.pattern(node, namespace));
  }

  /** `namespace` is what enclosing patterns say with `ns`; a referenced definition begins again without. */
  private pattern(node: XmlNode, outer: string): Pattern {
    const children = elementsOf(node);
    const namespace = attributeOf(node, "ns") ?? outer;
    switch (node.name) {
      case "empty":
        return this.pool.empty;
      case "notAllowed":
        return this.pool.notAllowed;
      case "text":
        return this.pool.text;
      case "ref":
        return this.reference(required(node, "name"));
      case "group":
        return this.group(children, namespace);
      case "interleave":
        return this.pool.interleave(this.patterns(children, namespace));
      case "choice":
        return this.pool.choice(this.patterns(children, namespace));
      case "optional":
        return this.pool.optional(this.group(children, namespace));
      case "oneOrMore":
        return this.pool.oneOrMore(this.group(children, namespace));
      case "zeroOrMore":
        return this.pool.optional(this.pool.oneOrMore(this.group(children, namespace)));
      case "value":
        return this.pool.value(textOf(node).trim().replace(/\s+/g, " "));
      case "data":
        return this.data(node);
      case "attribute":
        return this.attribute(node);
      case "element":
        return this.element(node, namespace);
      default:
        throw new Error(`<${node.name}> is not understood`);
    }
  }

  private reference(name: string): Pattern {
    const known = this.resolved.get(name);
    if (known !== undefined) return known;
    const definitions = this.grammar.definitions.get(name);
    if (definitions === undefined) throw new Error(`there is no definition of ${name}`);
    const patterns = definitions.map((definition) => this.group(definition.patterns));
    const combine = definitions.find((definition) => definition.combine !== undefined)?.combine;
    if (combine === undefined && patterns.length > 1) throw new Error(`${name} is defined twice`);
    const pattern = combine === "interleave" ? this.pool.interleave(patterns) : this.pool.choice(patterns);
    this.resolved.set(name, pattern);
    return pattern;
  }

  private attribute(node: XmlNode): Pattern {
    const name = attributeOf(node, "name");
    if (attributeOf(node, "ns") !== undefined) throw new Error("an attribute in a namespace is not understood");
    const value = elementsOf(node).filter((child) => child.name !== "anyName");
    return this.pool.attribute(name ?? "*", value.length === 0 ? this.pool.text : this.group(value));
  }

  private element(node: XmlNode, namespace: string): Pattern {
    const known = this.elementOfNode.get(node);
    if (known !== undefined) return known;
    const pattern = this.pool.element(this.elements.length);
    const element: GrammarElement = {
      name: attributeOf(node, "name") ?? "*",
      namespace,
      content: this.pool.notAllowed,
    };
    this.elements.push(element);
    this.elementOfNode.set(node, pattern);
    this.unread.push({ node, element });
    return pattern;
  }

  private data(node: XmlNode): Pattern {
    const datatype: { -readonly [Key in keyof Datatype]: Datatype[Key] } = { type: required(node, "type") };
    for (const child of elementsOf(node)) {
      const parameter = child.name === "param" ? required(child, "name") : child.name;
      if (parameter === "pattern") datatype.pattern = checkedPattern(textOf(child));
      else if (parameter === "minInclusive") datatype.min = textOf(child);
      else if (parameter === "maxInclusive") datatype.max = textOf(child);
      else if (parameter === "maxLength") datatype.maxLength = Number(textOf(child));
      else if (parameter === "except") datatype.except = valuesBelow(child);
      else throw new Error(`the parameter ${parameter} of a datatype is not understood`);
    }
    const text = JSON.stringify(datatype);
    let index = this.datatypes.findIndex((known) => JSON.stringify(known) === text);
    if (index === -1) index = this.datatypes.push(datatype) - 1;
    return this.pool.data(index);
  }
}

function textOf(node: XmlNode): string {
  return node.children.filter((child) => typeof child === "string").join("");
}

function valuesBelow(node: XmlNode): string[] {
  return elementsOf(node).flatMap((child) => (child.name === "value" ? [textOf(child)] : valuesBelow(child)));
}

/** XML Schema's expressions that JavaScript reads with the same meaning; any other must be looked at by a person. */
function checkedPattern(pattern: string): string {
  const escapes = pattern.match(/\\./g) ?? [];
  const outsideClasses = pattern.replace(/\\./g, "x").replace(/\[[^\]]*\]/g, "x");
  if (/[$^]|\(\?/.test(outsideClasses) || escapes.some((escape) => !/[-.^\\+[\]nst]/.test(escape.slice(1)))) {
    throw new Error(`the expression ${pattern} may mean something else in JavaScript`);
  }
  return withoutAmbiguity(pattern);
}

/**
 * `[a-z]+[a-z0-9]*` takes time with the square of the text's length, as each letter can belong to either part. Where the
 * second class has all of the first, `[a-z][a-z0-9]*` says the same in one way only.
 */
function withoutAmbiguity(pattern: string): string {
  const twoClasses = /(\[(?:[^\]\\]|\\.)+\])[+*](\[(?:[^\]\\]|\\.)+\])[+*]/g;
  return pattern.replace(twoClasses, (all, first: string, second: string) => {
    const characters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
    const matching = (source: string) => characters.filter((character) => new RegExp(`^${source}$`).test(character));
    const later = new Set(matching(second));
    const shared = matching(first).filter((character) => later.has(character));
    if (shared.length === 0) return all;
    if (all !== `${first}+${second}*` || shared.length < matching(first).length) {
      throw new Error(`the expression ${pattern} is ambiguous: long texts would take long`);
    }
    return `${first}${second}*`;
  });
}

/**
 * Elements that are written more than once (also in several versions) but mean the same become one. Starts from
 * "same name" and splits classes until all members of each have the same content over classes.
 */
function mergeEqualElements(grammar: SimpleGrammar): SimpleGrammar {
  let classOf = numbered(grammar.elements.map((element) => `${element.namespace} ${element.name}`));
  for (let count = 0; count !== new Set(classOf).size;) {
    count = new Set(classOf).size;
    const current = classOf;
    classOf = numbered(
      grammar.elements.map((element, index) => `${current[index]} ${signature(element.content, current)}`),
    );
  }
  const impossible = grammar.pool.notAllowed;
  // The roots come first.
  const indexOfClass = new Map<number, number>();
  for (const start of grammar.starts) indexOfClass.set(classOf[start.index] ?? -1, indexOfClass.size);
  const indexes = classOf.map((number, index) => {
    if (grammar.elements[index]?.content === impossible) return undefined;
    const known = indexOfClass.get(number) ?? indexOfClass.size;
    indexOfClass.set(number, known);
    return known;
  });
  const pool = new PatternPool();
  const elements: GrammarElement[] = [];
  for (const [index, element] of grammar.elements.entries()) {
    const target = indexes[index];
    if (target === undefined || elements[target] !== undefined) continue;
    elements[target] = { ...element, content: rebuild(element.content, pool, indexes) };
  }
  const starts = grammar.starts.map((start) => rebuild(start, pool, indexes));
  return { pool, elements, datatypes: grammar.datatypes, starts };
}

function numbered(keys: readonly string[]): number[] {
  const numbers = new Map<string, number>();
  return keys.map((key) => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}

function signature(pattern: Pattern, classOf: readonly number[]): string {
  const own = pattern.kind === "element" ? classOf[pattern.index] : pattern.index;
  return `${pattern.kind}(${own} ${pattern.name} ${pattern.parts.map((part) => signature(part, classOf)).join(" ")})`;
}

function possible(index: number | undefined, pool: PatternPool): Pattern {
  return index === undefined ? pool.notAllowed : pool.element(index);
}

/** The same pattern in another pool; elements that can have no content at all fall away. */
function rebuild(pattern: Pattern, pool: PatternPool, classOf: readonly (number | undefined)[]): Pattern {
  const parts = pattern.parts.map((part) => rebuild(part, pool, classOf));
  const [only = pool.notAllowed] = parts;
  const makers: Record<Pattern["kind"], () => Pattern> = {
    notAllowed: () => pool.notAllowed,
    empty: () => pool.empty,
    text: () => pool.text,
    choice: () => pool.choice(parts),
    group: () => pool.group(parts),
    interleave: () => pool.interleave(parts),
    oneOrMore: () => pool.oneOrMore(only),
    attribute: () => pool.attribute(pattern.name, only),
    element: () => possible(classOf[pattern.index], pool),
    value: () => pool.value(pattern.name),
    data: () => pool.data(pattern.index),
  };
  return makers[pattern.kind]();
}
