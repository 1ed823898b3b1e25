import { datatypeTable, grammarTable, libvirtVersions } from "../gen/domain-grammar.ts";
import type { Datatype } from "./datatype.ts";
import { PatternPool, type Pattern } from "./pattern.ts";

/** A pattern as the generated table writes it; see generate/emit-grammar.ts. */
type Expression = number | string | Expression[];

/** One element of the grammar, decoded when a document first uses it. */
interface GrammarElement {
  /** With the usual prefix of its namespace: `disk`, `qemu:arg`; `*` for any. */
  readonly name: string;
  readonly content: () => Pattern;
}

/** libvirt's schema for domains as patterns, in all versions that the table has. */
export class Grammar {
  readonly pool = new PatternPool();
  readonly datatypes: readonly Datatype[];
  private readonly elements: (GrammarElement | undefined)[] = [];

  constructor() {
    // The generator wrote the table in exactly this form.
    this.datatypes = JSON.parse(datatypeTable) as Datatype[];
  }

  element(index: number): GrammarElement {
    const known = this.elements[index];
    if (known !== undefined) return known;
    const line = grammarTable[index] ?? "";
    const space = line.indexOf(" ");
    let content: Pattern | undefined;
    const element: GrammarElement = {
      name: line.slice(0, space),
      // The generator wrote the table in exactly this form.
      content: () => (content ??= this.decode(JSON.parse(line.slice(space + 1)) as Expression)),
    };
    this.elements[index] = element;
    return element;
  }

  private decode(expression: Expression): Pattern {
    const { pool } = this;
    if (typeof expression === "number") return pool.element(expression);
    if (typeof expression === "string") {
      const rest = expression.slice(1);
      if (expression === "") return pool.empty;
      if (expression === "T") return pool.text;
      if (expression.startsWith("D")) return pool.data(Number(rest));
      return pool.choice(rest.split("|").map((value) => pool.value(value)));
    }
    const [operator = "", ...operands] = expression;
    return this.combine(
      String(operator),
      operands.map((operand) => this.decode(operand)),
    );
  }

  private combine(operator: string, parts: readonly Pattern[]): Pattern {
    const { pool } = this;
    const [first = pool.notAllowed] = parts;
    switch (operator) {
      case "?":
        return pool.optional(first);
      case "*":
        return pool.optional(pool.oneOrMore(first));
      case "+":
        return pool.oneOrMore(first);
      case "|":
        return pool.choice(parts);
      case ",":
        return pool.group(parts);
      case "&":
        return pool.interleave(parts);
      default:
        return pool.attribute(operator.slice(1), first);
    }
  }
}

/** Index of the `<domain>` element of the version that a libvirt of the given version is judged by. */
export function startOf(version: string | undefined): number {
  return version === undefined ? 0 : libvirtVersions.indexOf(versionFor(version));
}

/**
 * The oldest schema that is not older than the given libvirt, so that nothing is refused that this libvirt accepts; the
 * newest for a libvirt newer than all of them.
 */
function versionFor(version: string): string {
  const notOlder = libvirtVersions.filter((candidate) => compareVersions(candidate, version) >= 0);
  return notOlder.at(-1) ?? libvirtVersions[0] ?? "";
}

function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split(".").map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
