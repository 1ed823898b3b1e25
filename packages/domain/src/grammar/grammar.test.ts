import { describe, expect, it } from "vitest";
import { installedSchemas, installedVersion } from "../../generate/installed-libvirt.ts";
import { readRng } from "../../generate/read-rng.ts";
import { simplify, type SimpleGrammar } from "../../generate/simplify.ts";
import { libvirtVersions } from "../gen/domain-grammar.ts";
import { Grammar, startOf } from "./grammar.ts";
import type { Datatype } from "./datatype.ts";
import type { Pattern } from "./pattern.ts";

const version = installedVersion() ?? "(none)";

interface AnyGrammar {
  readonly datatypes: readonly Datatype[];
  element(index: number): { name: string; content: Pattern };
}

/** A grammar as text, elements numbered as they are first met: equal texts mean equal grammars. */
function written(grammar: AnyGrammar, start: number): string {
  const numbers = new Map([[start, 0]]);
  const lines: string[] = [];
  const write = (pattern: Pattern): string => {
    const own =
      pattern.kind === "data"
        ? JSON.stringify(grammar.datatypes[pattern.index])
        : pattern.kind === "element"
          ? String(numbers.get(pattern.index) ?? numbers.set(pattern.index, numbers.size).get(pattern.index))
          : pattern.name;
    // The table writes the alternatives of a choice in another order.
    const parts = pattern.parts.map(write);
    return `${pattern.kind}(${[own, ...(pattern.kind === "choice" ? parts.toSorted() : parts)].join(" ")})`;
  };
  // Iterating a map also visits what is added on the way.
  for (const [index] of numbers) {
    const { name, content } = grammar.element(index);
    lines.push(`${name} ${write(content)}`);
  }
  return lines.join("\n");
}

function generated(grammar: SimpleGrammar): AnyGrammar {
  return {
    datatypes: grammar.datatypes,
    element(index) {
      const element = grammar.elements[index];
      if (element === undefined) throw new Error(`no element ${index}`);
      const prefix = /schemas\/domain\/([a-z]+)\//.exec(element.namespace)?.[1];
      return { name: prefix === undefined ? element.name : `${prefix}:${element.name}`, content: element.content };
    },
  };
}

describe("the grammar table", () => {
  it("begins with the newest version", () => {
    const grammar = new Grammar();
    expect(libvirtVersions.map((_, index) => grammar.element(index).name)).toEqual(libvirtVersions.map(() => "domain"));
    expect(startOf(undefined)).toBe(0);
  });

  it("can be decoded whole", () => {
    const grammar = new Grammar();
    expect(written(table(grammar), 0).split("\n").length).toBeGreaterThan(500);
  });

  // The schemas are not part of this repository: the table is held against them where that libvirt is installed.
  it.skipIf(!libvirtVersions.includes(version))(`has the grammar of the installed libvirt ${version}`, () => {
    const installed = simplify([readRng(installedSchemas, "domain.rng")]);
    const expected = written(generated(installed), installed.starts[0]?.index ?? -1);
    expect(written(table(new Grammar()), libvirtVersions.indexOf(version))).toBe(expected);
  });
});

function table(grammar: Grammar): AnyGrammar {
  return {
    datatypes: grammar.datatypes,
    element(index) {
      const { name, content } = grammar.element(index);
      return { name, content: content() };
    },
  };
}
