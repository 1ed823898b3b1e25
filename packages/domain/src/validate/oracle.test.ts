import { existsSync, readdirSync, readFileSync } from "node:fs";
import { RelaxNGValidator, XmlDocument } from "libxml2-wasm";
import { xmlRegisterFsInputProviders } from "libxml2-wasm/lib/nodejs.mjs";
import { beforeAll, describe, expect, it } from "vitest";
import { installedSchemas, installedVersion } from "../../generate/installed-libvirt.ts";
import { libvirtVersions } from "../gen/domain-grammar.ts";
import type { Domain } from "../gen/domain.ts";
import { readDomain } from "../model/read-domain.ts";
import { writeDomain } from "../model/write-domain.ts";
import { validateDomain } from "./validate-domain.ts";

// The judge is libxml2 with the schemas of an installed libvirt (Debian: libvirt0 or libvirt-common). These tests need
// both it and libvirt's own test domains, and are skipped, visibly, where one of them is missing.
const schema = `${installedSchemas}/domain.rng`;
const corpus = new URL("../../../../../shared/libvirt/domains/", import.meta.url);
const installed = existsSync(schema) && existsSync(corpus);
// An installed version that the table does not have exactly is only asked one way: what it accepts must be accepted.
const version = installedVersion() ?? "";
const exact = installed && libvirtVersions.includes(version);

describe.skipIf(!installed)("against libxml2 with the installed libvirt's schema", { timeout: 60_000 }, () => {
  let judge: RelaxNGValidator;
  const documents: { file: string; xml: string; accepted: boolean }[] = [];

  beforeAll(() => {
    xmlRegisterFsInputProviders();
    judge = RelaxNGValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(schema), { url: schema }));
    for (const file of readdirSync(corpus)) {
      if (file === "broken-xml-invalid.xml") continue;
      const xml = readFileSync(new URL(file, corpus), "utf8");
      documents.push({ file, xml, accepted: accepts(xml) });
    }
  }, 60_000);

  function accepts(xml: string): boolean {
    const document = XmlDocument.fromString(xml);
    try {
      judge.validate(document);
      return true;
    } catch {
      return false;
    } finally {
      document.dispose();
    }
  }

  it("accepts every domain that libvirt's schema accepts", () => {
    const refused = documents.filter(({ xml, accepted }) => accepted && validateDomain(readDomain(xml)).length > 0);
    expect(refused.map(({ file }) => file)).toEqual([]);
  });

  it.skipIf(!exact)("refuses every domain that this libvirt's schema refuses", () => {
    const wrong = documents.filter(({ xml, accepted }) => {
      return accepted !== (validateDomain(readDomain(xml), { libvirt: version }).length === 0);
    });
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  it.skipIf(!exact)("agrees about domains that were changed at random", () => {
    const random = new Random(20_260_131);
    const models = documents.map(({ xml }) => readDomain(xml));
    const pool = models.flatMap((model) => nodesOf(model));
    let refused = 0;
    const wrong: unknown[] = [];
    for (let round = 0; round < 1500; round += 1) {
      const model = structuredClone(random.pick(models));
      const change = mutate(model, pool, random);
      const problems = validateDomain(model, { libvirt: version });
      let expected: boolean;
      try {
        expected = accepts(writeDomain(model));
      } catch {
        // What cannot be written at all must be refused too.
        expected = false;
      }
      if (problems.length > 0) refused += 1;
      if (expected !== (problems.length === 0)) wrong.push({ change, expected, problems });
      expect(problems.every(({ path, problem }) => path.startsWith("/") && problem !== "")).toBe(true);
    }
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(300);
  });
});

/** A small linear congruential generator: the same changes in every run. */
class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  below(limit: number): number {
    this.state = (Math.imul(this.state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(((this.state >>> 8) / 0x100_0000) * limit);
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}

interface Node {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly value: unknown;
}

function nodesOf(value: unknown): Node[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.entries(holder).flatMap(([key, child]) => {
    if (key.startsWith("$") || key === "metadata") return [];
    return [...(Array.isArray(value) ? [] : [{ holder, key, value: child }]), ...nodesOf(child)];
  });
}

const texts = [
  "bogus",
  "",
  "-1",
  "0",
  "1",
  "007",
  " 3 ",
  "0x1f",
  "yes",
  "on",
  "4294967296",
  "18446744073709551615",
  "+5",
];

/** Changes one thing in a model and says what. */
function mutate(model: Domain, pool: readonly Node[], random: Random): string {
  const { holder, key, value } = random.pick(nodesOf(model));
  const other = random.pick(pool);
  switch (random.below(6)) {
    case 0:
      holder[key] = typeof value === "object" ? structuredClone(other.value) : random.pick(texts);
      return `set ${key} from ${JSON.stringify(value)} to ${JSON.stringify(holder[key])}`;
    case 1:
      delete holder[key];
      return `remove ${key}`;
    case 2:
      holder[other.key] = structuredClone(other.value);
      return `add ${other.key} beside ${key}`;
    case 3:
      if (Array.isArray(value)) value.push(structuredClone(random.pick(value)));
      return `repeat an item of ${key}`;
    case 4:
      holder[key] = structuredClone(random.pick(pool.filter((node) => node.key === key)).value);
      return `take another ${key}`;
    default:
      holder["$attributes"] = { [random.pick(["type", "unknown", "xmlns:x"])]: "x" };
      return `add an attribute beside ${key}`;
  }
}
