import { namesIn, type FieldSource, type SchemaSource, type TypeSource } from "./read-schema.ts";
import { scalars } from "./scalars.ts";
import { unreachable, type TypeExpression } from "./type-expression.ts";

const header = "// Generated from packages/api/schema by `npm run generate`. Do not edit.\n";

/** Types written by hand; where the schema declares them too, it is so that CRDs know their fields. */
const handWritten: Readonly<Record<string, string>> = {
  "../wire-types.ts": "Quantity IntOrString",
  "../k8s/meta.ts": "Condition KubeObject LabelSelector LabelSelectorRequirement ObjectMeta",
  "../k8s/affinity.ts":
    "Affinity NodeAffinity NodeSelector NodeSelectorRequirement NodeSelectorTerm PodAffinity PodAffinityTerm " +
    "PreferredSchedulingTerm WeightedPodAffinityTerm Toleration TopologySpreadConstraint",
  "../k8s/volume.ts": "DownwardAPIVolumeFile ObjectFieldSelector ResourceFieldSelector",
  "../k8s/admissionregistration.ts": "RuleWithOperations",
};
const handWrittenIn = new Map(
  Object.entries(handWritten).flatMap(([path, names]) => names.split(" ").map((name) => [name, path] as const)),
);

/** One file of interfaces for each concept, and an index. Returns path → content. */
export function emitTypes(schema: SchemaSource): Map<string, string> {
  const concepts = new Map<string, TypeSource[]>();
  for (const type of schema.types.values()) {
    if (handWrittenIn.has(type.name)) continue;
    concepts.set(type.concept, [...(concepts.get(type.concept) ?? []), type]);
  }
  const kinds = new Set(schema.kinds.map((kind) => kind.kind));
  const files = new Map<string, string>();
  for (const [concept, types] of concepts) {
    const body = types.map((type) => emitInterface(type, kinds.has(type.name)));
    const imports = emitImports(concept, types, schema, kinds);
    files.set(`${concept}.ts`, [header, ...imports, ...(imports.length > 0 ? [""] : []), ...body].join("\n"));
  }
  const index = [...concepts.keys()].sort().map((concept) => `export type * from "./${concept}.ts";`);
  files.set("types.ts", [header, ...index, ""].join("\n"));
  return files;
}

function emitImports(concept: string, types: TypeSource[], schema: SchemaSource, kinds: Set<string>): string[] {
  const wanted = new Map<string, Set<string>>();
  const want = (path: string, name: string): void => {
    wanted.set(path, (wanted.get(path) ?? new Set()).add(name));
  };
  for (const type of types) {
    if (kinds.has(type.name)) want("../k8s/meta.ts", "KubeObject");
    for (const name of [...type.fields.values()].flatMap((field) => namesIn(field.type))) {
      const scalar = scalars[name]?.typescript;
      const written = scalar ?? name;
      const handWrittenPath = handWrittenIn.get(written);
      if (handWrittenPath !== undefined) want(handWrittenPath, written);
      else if (scalar === undefined) {
        const target = schema.types.get(name)?.concept;
        if (target !== undefined && target !== concept) want(`./${target}.ts`, name);
      }
    }
  }
  return [...wanted.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, names]) => `import type { ${[...names].sort().join(", ")} } from "${path}";`);
}

function emitInterface(type: TypeSource, isKind: boolean): string {
  const lines = [`/** ${comment(type.about)} */`];
  if (type.fields.size === 0 && !isKind) {
    lines.push(`export type ${type.name} = Record<string, never>;`, "");
    return lines.join("\n");
  }
  lines.push(`export interface ${type.name}${isKind ? " extends KubeObject" : ""} {`);
  for (const [name, field] of type.fields) {
    const optional = type.required.includes(name) ? "" : "?";
    lines.push(`  /** ${comment(field.about)} */`, `  ${propertyName(name)}${optional}: ${emitType(field)};`);
  }
  lines.push("}", "");
  return lines.join("\n");
}

function emitType(field: FieldSource): string {
  const closed = field.enum ?? field.states;
  if (closed !== undefined) return emitExpression(field.type, closed.map((value) => JSON.stringify(value)).join(" | "));
  if (field.values !== undefined) {
    // `string & {}` keeps the known values visible to editors while any string is accepted.
    const known = field.values.map((value) => JSON.stringify(value)).join(" | ");
    return emitExpression(field.type, `${known} | (string & {})`);
  }
  return emitExpression(field.type, undefined);
}

function emitExpression(type: TypeExpression, literals: string | undefined): string {
  switch (type.kind) {
    case "named": {
      const name = literals ?? scalars[type.name]?.typescript ?? type.name;
      return type.nullable ? `${name} | null` : name;
    }
    case "map":
      return `Record<string, ${emitExpression(type.values, literals)}>`;
    case "list":
      return emitList(emitExpression(type.items, literals));
    default:
      throw unreachable(type);
  }
}

function emitList(items: string): string {
  return items.includes("|") ? `(${items})[]` : `${items}[]`;
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function comment(text: string): string {
  return text.replaceAll("*/", "*\\/");
}
