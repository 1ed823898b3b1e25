import { existsSync, readdirSync, readFileSync } from "node:fs";
import { RelaxNGValidator, XmlDocument } from "libxml2-wasm";
import { xmlRegisterFsInputProviders } from "libxml2-wasm/lib/nodejs.mjs";
import { beforeAll, describe, expect, it } from "vitest";
import type { Domain } from "../gen/domain.ts";
import { readDomain } from "../model/read-domain.ts";
import { writeDomain } from "../model/write-domain.ts";
import { validateDomain } from "./validate-domain.ts";

// The judge is libxml2 with the schemas of an installed libvirt (Debian: libvirt0 or libvirt-common). These tests need
// both it and libvirt's own test domains, and are skipped, visibly, where one of them is missing.
const schema = "/usr/share/libvirt/schemas/domain.rng";
const corpus = new URL("../../../../../shared/libvirt/domains/", import.meta.url);
const installed = existsSync(schema) && existsSync(corpus);
// The table has libvirt 9.0's schema exactly; another installed version is only asked one way, see below.
const exact = installed && /Version: 9\.0\.0/.test(installedPackage());

function installedPackage(): string {
  const status = "/var/lib/dpkg/status";
  if (!existsSync(status)) return "";
  return /^Package: libvirt0$.*?^$/ms.exec(readFileSync(status, "utf8"))?.[0] ?? "";
}

describe.skipIf(!installed)("against libxml2 with the installed libvirt's schema", () => {
  let judge: RelaxNGValidator;
  const documents: { file: string; xml: string }[] = [];

  beforeAll(() => {
    xmlRegisterFsInputProviders();
    judge = RelaxNGValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(schema), { url: schema }));
    for (const file of readdirSync(corpus)) {
      if (file !== "broken-xml-invalid.xml") documents.push({ file, xml: readFileSync(new URL(file, corpus), "utf8") });
    }
  });

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
    const refused = documents.filter(({ xml }) => accepts(xml) && validateDomain(readDomain(xml)).length > 0);
    expect(refused.map(({ file }) => file)).toEqual([]);
  });

  it.skipIf(!exact)("refuses every domain that this libvirt's schema refuses", () => {
    const wrong = documents.filter(({ xml }) => {
      return accepts(xml) !== (validateDomain(readDomain(xml), { libvirt: "9.0.0" }).length === 0);
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
      const problems = validateDomain(model, { libvirt: "9.0.0" });
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
