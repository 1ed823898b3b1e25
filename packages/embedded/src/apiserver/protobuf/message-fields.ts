import fieldTable from "../gen/protobuf-fields.json" with { type: "json" };

import { definition } from "../schema/schema.ts";

/** What the protobuf form and Kubernetes' own types say about one field. */
export interface MessageField {
  readonly number: number;
  /** Its name in JSON. */
  readonly name: string;
  readonly type: string;
  /** `r`: a list, `m`: a map from strings. */
  readonly shape: "" | "r" | "m";
  /** An empty value says something: the field is a pointer, or is always written. */
  readonly keepZero: boolean;
  /** The message's fields belong to the message around it, as in JSON. */
  readonly inline: boolean;
  /** What JSON shows when the field was never set; undefined: nothing. */
  readonly zero: "" | 0 | false | null | "struct" | undefined;
}

interface MessageFields {
  readonly byNumber: ReadonlyMap<number, MessageField>;
  readonly all: readonly MessageField[];
}

/** Names that differ between the two forms. */
const renamed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": {
    schema: "$schema",
    ref: "$ref",
    xPreserveUnknownFields: "x-kubernetes-preserve-unknown-fields",
    xEmbeddedResource: "x-kubernetes-embedded-resource",
    xIntOrString: "x-kubernetes-int-or-string",
    xListMapKeys: "x-kubernetes-list-map-keys",
    xListType: "x-kubernetes-list-type",
    xMapType: "x-kubernetes-map-type",
    xValidations: "x-kubernetes-validations",
  },
};

const table = fieldTable as Readonly<Record<string, readonly string[]>>;
const messages = new Map<string, MessageFields>();

export function fieldsOf(message: string): MessageFields {
  let fields = messages.get(message);
  if (fields === undefined) {
    const all = (Object.hasOwn(table, message) ? (table[message] ?? []) : []).map((line) => parseField(message, line));
    fields = { all, byNumber: new Map(all.map((field) => [field.number, field])) };
    messages.set(message, fields);
  }
  return fields;
}

const scalarZeros: Readonly<Record<string, "" | 0 | false>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
};

function parseField(message: string, line: string): MessageField {
  const [number = "0", protoName = "", type = "", shape = "", go = ""] = line.split(" ");
  const name = renamed[message]?.[protoName] ?? protoName;
  const isMessage = type.includes(".");
  const isPointer = go.includes("p");
  const isOmitted = go.includes("o");
  return {
    number: Number(number),
    name,
    type,
    shape: shape === "r" || shape === "m" ? shape : "",
    keepZero: isPointer || !isOmitted,
    inline: shape === "" && isMessage && !isProperty(message, name),
    zero: zeroOf(),
  };

  function zeroOf(): MessageField["zero"] {
    if (isPointer) return undefined;
    if (shape !== "") return isOmitted ? undefined : null;
    if (isMessage) return go.includes("z") || notObjects.has(type) ? undefined : "struct";
    return isOmitted ? undefined : scalarZeros[type];
  }
}

/** Messages that JSON writes as something else than an object. */
const notObjects = new Set([
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
  "io.k8s.apimachinery.pkg.runtime.RawExtension",
  "io.k8s.apimachinery.pkg.api.resource.Quantity",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
]);

function isProperty(message: string, name: string): boolean {
  try {
    return Object.hasOwn(definition(message).properties ?? {}, name);
  } catch {
    // Messages that JSON inlines have no schema of their own.
    return true;
  }
}
