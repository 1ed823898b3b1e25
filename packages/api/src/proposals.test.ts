import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { conforms } from "../generate/conforms.ts";
import { buildCustomResourceDefinitions } from "./crds.ts";

const folder = join(import.meta.dirname, "../../../../shared/seeds");
const examples = existsSync(folder) ? readExamples() : [];

/** Every YAML block of the proposals that is a whole object of ours. */
function readExamples(): [string, Record<string, unknown>][] {
  return readdirSync(folder).flatMap((file) => {
    const blocks = readFileSync(join(folder, file), "utf8").matchAll(/```yaml\n(.*?)```/gs);
    return [...blocks].flatMap(([, text = ""], index): [string, Record<string, unknown>][] => {
      if (!text.includes("kubevirt.io/v1") || !text.startsWith("apiVersion")) return [];
      return [[`${file} block ${index + 1}`, parse(text)]];
    });
  });
}

describe.runIf(existsSync(folder))("the proposals' examples", () => {
  it("are found", () => {
    expect(examples.length).toBeGreaterThan(4);
  });

  it.each(examples)("%s fits the schema as it stands", (_name, object) => {
    const definition = buildCustomResourceDefinitions().find(({ spec }) => spec.names.kind === object["kind"]);
    const schema = definition?.spec.versions[0]?.schema?.openAPIV3Schema ?? {};
    const { metadata: _metadata, ...rest } = object;
    expect(conforms({ metadata: {}, ...rest }, schema)).toEqual([]);
  });
});
