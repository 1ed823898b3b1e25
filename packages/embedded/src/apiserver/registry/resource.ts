import type { CrdRules } from "@polyvirt/cel";

import { definition, type Schema } from "../schema/schema.ts";
import { columns } from "../kinds/columns.ts";
import type { BuiltinKind, Column, Conversion, Strategy } from "../kinds/kind.ts";

/** One served resource: a built-in kind, or one version of a custom one. Everything generic works on this alone. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: ReadonlySet<string>;
  readonly columns: readonly Column[];
  readonly strategy: Strategy;
  readonly schema: Schema;
  /** Built-in kinds are decoded like Go structs, custom ones by their structural schema. */
  readonly typed: boolean;
  /** First part of the objects' keys in the store; shared by all versions of a resource. */
  readonly bucket: string;
  readonly storageApiVersion: string;
  /** Kinds that are answered and never stored. */
  readonly virtual: boolean;
  readonly conversion?: Conversion;
  readonly scale?: ScalePaths;
  /** Rules in CEL that the schema carries; compiled when they are first needed. */
  readonly rules?: () => CrdRules;
  readonly definitionName: string;
  readonly description?: string;
  /** What clients of this version are told with every answer. */
  readonly deprecation?: string;
}

export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly selector: readonly string[] | undefined;
}

export const allVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

export const apiVersionOf = (group: string, version: string): string =>
  group === "" ? version : `${group}/${version}`;

export const bucketName = (group: string, plural: string): string => (group === "" ? plural : `${plural}.${group}`);

function verbsOf({ virtual, deletedSingly }: BuiltinKind): readonly string[] {
  if (virtual === true) return ["create"];
  return deletedSingly === true ? allVerbs.filter((verb) => verb !== "deletecollection") : allVerbs;
}

export function builtinResource(kind: BuiltinKind): Resource {
  const stored = kind.storedAs ?? kind;
  return {
    group: kind.group,
    version: kind.version,
    apiVersion: apiVersionOf(kind.group, kind.version),
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.plural,
    singular: kind.kind.toLowerCase(),
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    namespaced: kind.namespaced,
    verbs: verbsOf(kind),
    subresources: new Set(kind.subresources ?? []),
    columns: kind.columns ?? columns(),
    strategy: kind.strategy ?? {},
    schema: definition(kind.schema),
    typed: true,
    bucket: bucketName(stored.group, stored.plural),
    storageApiVersion: apiVersionOf(stored.group, stored.version),
    virtual: kind.virtual === true,
    definitionName: kind.schema,
    description: kind.description,
    ...(kind.conversion === undefined ? {} : { conversion: kind.conversion }),
    ...(kind.subresources?.includes("scale") === true
      ? {
          scale: {
            specReplicas: ["spec", "replicas"],
            statusReplicas: ["status", "replicas"],
            selector: ["spec", "selector"],
          },
        }
      : {}),
  };
}

/** Where an object lives in the store. Objects of the cluster have an empty namespace part. */
export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  `${resource.bucket}/${resource.namespaced ? namespace : ""}/${name}`;

export const prefixOf = (resource: Resource, namespace: string): string =>
  namespace === "" || !resource.namespaced ? `${resource.bucket}/` : `${resource.bucket}/${namespace}/`;
