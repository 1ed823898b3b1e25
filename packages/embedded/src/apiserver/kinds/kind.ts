import type { KubeObject } from "@polyvirt/api/k8s";

import type { FieldError } from "../http/status-error.ts";
import type { JsonObject } from "../json.ts";
import type { NameRule } from "../registry/object-names.ts";

/** An object of any kind: metadata is known, the rest is looked at through schemas and checks. */
export type ApiObject = KubeObject & JsonObject;

/** Between the stored form of an object and the form of another version, where they differ in more than apiVersion. */
export interface Conversion {
  fromStored(object: ApiObject): ApiObject;
  toStored(object: ApiObject): ApiObject;
}

/** One column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  /** 0: always shown; 1: with -o wide. */
  readonly priority?: number;
  readonly description?: string;
  value(object: ApiObject, now: number): unknown;
}

export interface Strategy {
  readonly nameRule?: NameRule;
  /** Fills what the user left out. Must not depend on anything but the object. */
  applyDefaults?(object: ApiObject): void;
  prepareCreate?(object: ApiObject): void;
  prepareUpdate?(object: ApiObject, old: ApiObject): void;
  validate?(object: ApiObject, old: ApiObject | undefined): FieldError[];
  /** Fields that the schema calls required although leaving them out is fine, as `a.b` without indexes. */
  readonly optional?: readonly string[];
  /** Whether metadata.generation counts changes of the specification, or also those of annotations. */
  readonly countsGenerations?: boolean | "with annotations";
  /** Values that field selectors may ask for, besides metadata.name and metadata.namespace. */
  fields?(object: ApiObject): Record<string, string>;
}

export interface BuiltinKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** One sentence for `kubectl explain`. */
  readonly description: string;
  /** Name of the schema in `gen/builtin-schemas.json`. */
  readonly schema: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly string[];
  readonly columns?: readonly Column[];
  readonly strategy?: Strategy;
  /** Kinds whose objects are deleted one by one only, because much goes with each. */
  readonly deletedSingly?: boolean;
  /** Kinds that are a question and are never stored, such as access reviews. */
  readonly virtual?: boolean;
  /** Another kind under whose name objects are stored. */
  readonly storedAs?: { readonly group: string; readonly version: string; readonly plural: string };
  /** Between this form and the stored one, where they differ in more than the version. */
  readonly conversion?: Conversion;
}
