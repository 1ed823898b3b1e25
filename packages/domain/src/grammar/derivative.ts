import type { Grammar } from "./grammar.ts";
import { collapse, matchesDatatype } from "./datatype.ts";
import type { Pattern } from "./pattern.ts";

type ByName = ReadonlyMap<string, readonly Pattern[]>;

/**
 * Derivatives of patterns: what is left to match after an attribute, an element or a text. Each is computed once and
 * kept, so that matching many documents becomes following an automaton that grows where documents lead.
 */
export class Derivatives {
  private readonly grammar: Grammar;
  private readonly attributeCache = new Map<Pattern, ByName>();
  private readonly elementCache = new Map<Pattern, ByName>();
  private readonly closeCache = new Map<Pattern, Pattern>();
  private readonly afterCache = new Map<Pattern, Map<Pattern | string, Pattern>>();

  constructor(grammar: Grammar) {
    this.grammar = grammar;
  }

  /** Number of derivatives kept: whoever holds this may start anew when it has grown large. */
  get size(): number {
    return this.afterCache.size;
  }

  /** Attributes that may stand at this point, by name. */
  attributes(pattern: Pattern): ByName {
    const known = this.attributeCache.get(pattern);
    if (known !== undefined) return known;
    const found = new Map<string, Pattern[]>();
    if (pattern.kind === "attribute") found.set(pattern.name, [pattern]);
    else for (const part of pattern.parts) addAll(found, this.attributes(part));
    this.attributeCache.set(pattern, found);
    return found;
  }

  /** Elements that may come next, by name. */
  elements(pattern: Pattern): ByName {
    const known = this.elementCache.get(pattern);
    if (known !== undefined) return known;
    const found = new Map<string, Pattern[]>();
    if (pattern.kind === "element") {
      found.set(this.grammar.element(pattern.index).name, [pattern]);
    } else if (pattern.kind !== "attribute") {
      for (const part of pattern.parts) {
        addAll(found, this.elements(part));
        if (pattern.kind === "group" && !part.nullable) break;
      }
    }
    this.elementCache.set(pattern, found);
    return found;
  }

  /** What is left when one of these attributes or elements (all of one name) has been seen. */
  after(pattern: Pattern, seen: readonly Pattern[]): Pattern {
    const [first] = seen;
    if (first === undefined) return this.grammar.pool.notAllowed;
    // Nearly always it is only one; several are kept under their numbers.
    const key = seen.length === 1 ? first : seen.map((one) => one.id).join(",");
    let cache = this.afterCache.get(pattern);
    if (cache === undefined) this.afterCache.set(pattern, (cache = new Map()));
    let result = cache.get(key);
    if (result === undefined) cache.set(key, (result = this.deriveAfter(pattern, first, seen)));
    return result;
  }

  private deriveAfter(pattern: Pattern, first: Pattern, seen: readonly Pattern[]): Pattern {
    const { pool } = this.grammar;
    const attribute = first.kind === "attribute";
    const name = attribute ? first.name : this.grammar.element(first.index).name;
    return this.derive(pattern, {
      leaf: (leaf) => (seen.includes(leaf) ? pool.empty : pool.notAllowed),
      concerns: (part) => (attribute ? this.attributes(part) : this.elements(part)).has(name),
      // Attributes have no order, so a sequence may be entered anywhere.
      anywhere: attribute,
    });
  }

  /** What is left when all attributes have been seen. */
  close(pattern: Pattern): Pattern {
    const known = this.closeCache.get(pattern);
    if (known !== undefined) return known;
    const closed = this.replaceAttributes(pattern, this.grammar.pool.notAllowed);
    this.closeCache.set(pattern, closed);
    return closed;
  }

  /** The same, taking missing attributes as given: to go on after saying that they are missing. */
  forgetAttributes(pattern: Pattern): Pattern {
    return this.replaceAttributes(pattern, this.grammar.pool.empty);
  }

  /** What is left when this text has been seen. */
  afterText(pattern: Pattern, text: string): Pattern {
    const { pool } = this.grammar;
    const leaf = (one: Pattern) => {
      if (one.kind === "text") return one;
      return this.matchesText(one, text) ? pool.empty : pool.notAllowed;
    };
    return this.derive(pattern, { leaf, concerns: () => true, anywhere: false });
  }

  /** What is left when some text has been seen that was not one of those allowed. */
  forgetText(pattern: Pattern): Pattern {
    const { pool } = this.grammar;
    const leaf = ({ kind }: Pattern) => (kind === "value" || kind === "data" ? pool.empty : pool.notAllowed);
    return pool.choice([pattern, this.derive(pattern, { leaf, concerns: () => true, anywhere: false })]);
  }

  /** Whether a text, as an attribute's value or the whole content of an element, matches. */
  matchesText(pattern: Pattern, text: string): boolean {
    if (pattern.kind === "text") return true;
    if (pattern.kind === "empty") return text.trim() === "";
    if (pattern.kind === "value") return collapse(text) === pattern.name;
    if (pattern.kind === "choice") return pattern.parts.some((part) => this.matchesText(part, text));
    const datatype = pattern.kind === "data" ? this.grammar.datatypes[pattern.index] : undefined;
    return datatype !== undefined && matchesDatatype(datatype, text);
  }

  private derive(pattern: Pattern, by: Derivation): Pattern {
    const { pool } = this.grammar;
    if (pattern.kind === "notAllowed" || pattern.kind === "empty" || !by.concerns(pattern)) return pool.notAllowed;
    if (pattern.kind === "choice") return pool.choice(pattern.parts.map((part) => this.derive(part, by)));
    if (pattern.kind === "group" || pattern.kind === "interleave") return this.deriveSequence(pattern, by);
    if (pattern.kind !== "oneOrMore") return by.leaf(pattern);
    const [part = pool.notAllowed] = pattern.parts;
    return pool.group([this.derive(part, by), pool.optional(pattern)]);
  }

  private deriveSequence(pattern: Pattern, by: Derivation): Pattern {
    const { pool } = this.grammar;
    const inOrder = pattern.kind === "group" && !by.anywhere;
    const alternatives: Pattern[] = [];
    for (const [index, part] of pattern.parts.entries()) {
      const rest = this.derive(part, by);
      if (rest !== pool.notAllowed) {
        const members = [...(inOrder ? [] : pattern.parts.slice(0, index)), rest, ...pattern.parts.slice(index + 1)];
        alternatives.push(pattern.kind === "group" ? pool.group(members) : pool.interleave(members));
      }
      if (inOrder && !part.nullable) break;
    }
    return pool.choice(alternatives);
  }

  private replaceAttributes(pattern: Pattern, by: Pattern): Pattern {
    if (pattern.kind === "attribute") return by;
    if (pattern.parts.length === 0) return pattern;
    const { pool } = this.grammar;
    const parts = pattern.parts.map((part) => this.replaceAttributes(part, by));
    if (pattern.kind === "choice") return pool.choice(parts);
    if (pattern.kind === "group") return pool.group(parts);
    return pattern.kind === "interleave" ? pool.interleave(parts) : pool.oneOrMore(pool.group(parts));
  }
}

interface Derivation {
  /** What is left of an attribute, element or text pattern. */
  readonly leaf: (leaf: Pattern) => Pattern;
  /** Whether the derivative of the pattern can be anything at all. */
  readonly concerns: (pattern: Pattern) => boolean;
  readonly anywhere: boolean;
}

function addAll(target: Map<string, Pattern[]>, source: ByName): void {
  for (const [name, patterns] of source) {
    const list = target.get(name);
    if (list === undefined) target.set(name, [...patterns]);
    else for (const pattern of patterns) if (!list.includes(pattern)) list.push(pattern);
  }
}
