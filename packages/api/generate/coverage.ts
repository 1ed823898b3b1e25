/**
 * Prints how many leaf fields each kind has and, given a list of paths (`spec.domain.cpu.cores integer`, one a line),
 * which of them the VirtualMachineInstance lacks: `tsx packages/api/generate/coverage.ts [file]`.
 */
import { readFile } from "node:fs/promises";
import { buildCustomResourceDefinition, buildCustomResourceDefinitions } from "../src/crds.ts";
import type { CustomResourceDefinition, JsonSchemaProps } from "../src/k8s/apiextensions.ts";

/** Paths of the list that the schema of a kind does not have. */
export function missingPaths(kind: string, list: string): { total: number; missing: string[] } {
  const schema = schemaOf(buildCustomResourceDefinition(kind));
  const paths = list
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "")
    .filter((path) => path.startsWith("spec.") || path.startsWith("status."));
  return { total: paths.length, missing: paths.filter((path) => find(schema, path) === undefined) };
}

function find(schema: JsonSchemaProps, path: string): JsonSchemaProps | undefined {
  let node: JsonSchemaProps | undefined = schema;
  for (const part of path.split(".")) {
    node = node?.properties?.[part.replace(/\[\]|\{\}/, "")];
    if (part.endsWith("[]")) node = node?.items;
    if (part.endsWith("{}"))
      node = typeof node?.additionalProperties === "object" ? node.additionalProperties : undefined;
  }
  return node;
}

function countLeaves(schema: JsonSchemaProps): number {
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : []),
  ];
  return children.length === 0 ? 1 : children.reduce((sum, child) => sum + countLeaves(child), 0);
}

function schemaOf(definition: CustomResourceDefinition): JsonSchemaProps {
  return definition.spec.versions[0]?.schema?.openAPIV3Schema ?? {};
}

async function main(file: string | undefined): Promise<void> {
  for (const definition of buildCustomResourceDefinitions()) {
    process.stdout.write(`${definition.spec.names.kind}: ${countLeaves(schemaOf(definition))} leaf fields\n`);
  }
  if (file === undefined) return;
  const { total, missing } = missingPaths("VirtualMachineInstance", await readFile(file, "utf8"));
  process.stdout.write(`${total - missing.length} of ${total} listed fields of VirtualMachineInstance\n`);
  for (const path of missing) process.stdout.write(`  missing: ${path}\n`);
  if (missing.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main(process.argv[2]);
