/**
 * Patterns of a RELAX NG grammar after simplification. Every pattern exists once in its pool, so equality is identity
 * and what is computed about a pattern can be kept by it.
 */
export interface Pattern {
  readonly kind:
    | "notAllowed"
    | "empty"
    | "text"
    | "choice"
    | "group"
    | "interleave"
    | "oneOrMore"
    | "attribute"
    | "element"
    | "value"
    | "data";
  readonly id: number;
  /** Whether nothing at all (no attribute, no element, no text) matches. */
  readonly nullable: boolean;
  /** choice, group, interleave: two or more; oneOrMore: what repeats; attribute: the pattern of its value. */
  readonly parts: readonly Pattern[];
  /** attribute: its name, `*` for any; value: the text. */
  readonly name: string;
  /** element: index into the grammar's elements; data: index into its datatypes. */
  readonly index: number;
}

const noParts: readonly Pattern[] = Object.freeze([]);

/** Makes patterns, simplified and each only once. */
export class PatternPool {
  private readonly known = new Map<string, Pattern>();

  readonly notAllowed = this.make("notAllowed", false);
  readonly empty = this.make("empty", true);
  readonly text = this.make("text", true);

  choice(alternatives: readonly Pattern[]): Pattern {
    const parts = new Set<Pattern>();
    for (const alternative of alternatives) {
      if (alternative.kind === "choice") for (const part of alternative.parts) parts.add(part);
      else if (alternative !== this.notAllowed) parts.add(alternative);
    }
    if (parts.has(this.empty) && [...parts].some((part) => part !== this.empty && part.nullable)) {
      parts.delete(this.empty);
    }
    const [only] = parts;
    if (only === undefined) return this.notAllowed;
    if (parts.size === 1) return only;
    const list = [...parts];
    return this.make("choice", list.some(isNullable), list);
  }

  optional(pattern: Pattern): Pattern {
    return this.choice([pattern, this.empty]);
  }

  group(members: readonly Pattern[]): Pattern {
    return this.sequence("group", members);
  }

  interleave(members: readonly Pattern[]): Pattern {
    return this.sequence("interleave", members);
  }

  oneOrMore(pattern: Pattern): Pattern {
    if (pattern === this.notAllowed || pattern === this.empty || pattern.kind === "oneOrMore") return pattern;
    return this.make("oneOrMore", pattern.nullable, [pattern]);
  }

  attribute(name: string, value: Pattern): Pattern {
    return value === this.notAllowed ? value : this.make("attribute", false, [value], name);
  }

  element(index: number): Pattern {
    return this.make("element", false, noParts, "", index);
  }

  value(text: string): Pattern {
    return this.make("value", false, noParts, text);
  }

  data(index: number): Pattern {
    return this.make("data", false, noParts, "", index);
  }

  private sequence(kind: "group" | "interleave", members: readonly Pattern[]): Pattern {
    const parts: Pattern[] = [];
    for (const member of members) {
      if (member === this.notAllowed) return member;
      if (member.kind === kind) parts.push(...member.parts);
      else if (member !== this.empty) parts.push(member);
    }
    const [only] = parts;
    if (only === undefined) return this.empty;
    return parts.length === 1 ? only : this.make(kind, parts.every(isNullable), parts);
  }

  private make(
    kind: Pattern["kind"],
    nullable: boolean,
    parts: readonly Pattern[] = noParts,
    name = "",
    index = -1,
  ): Pattern {
    const key = `${kind} ${index} ${parts.map((part) => part.id).join(",")} ${name}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const pattern: Pattern = { kind, id: this.known.size, nullable, parts, name, index };
    this.known.set(key, pattern);
    return pattern;
  }
}

function isNullable(pattern: Pattern): boolean {
  return pattern.nullable;
}
