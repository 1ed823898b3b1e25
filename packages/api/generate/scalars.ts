import type { JsonSchemaProps } from "../src/k8s/apiextensions.ts";

interface Scalar {
  readonly typescript: string;
  readonly schema: JsonSchemaProps;
}

/** What the API server itself accepts as a quantity: a decimal number with an optional binary, decimal or exponent suffix. */
const quantityPattern =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

const intOrString: JsonSchemaProps = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  "x-kubernetes-int-or-string": true,
};

/**
 * The types that are not declared in `schema/*.yaml`. Unsigned integers carry no format: Kubernetes has none that
 * holds their upper half.
 */
export const scalars: Readonly<Record<string, Scalar>> = {
  string: { typescript: "string", schema: { type: "string" } },
  bool: { typescript: "boolean", schema: { type: "boolean" } },
  int32: { typescript: "number", schema: { type: "integer", format: "int32" } },
  int64: { typescript: "number", schema: { type: "integer", format: "int64" } },
  uint: { typescript: "number", schema: { type: "integer", minimum: 0 } },
  float: { typescript: "number", schema: { type: "number" } },
  Quantity: { typescript: "Quantity", schema: { ...intOrString, pattern: quantityPattern } },
  IntOrString: { typescript: "IntOrString", schema: intOrString },
  Time: { typescript: "string", schema: { type: "string", format: "date-time" } },
  Duration: { typescript: "string", schema: { type: "string" } },
  Object: {
    typescript: "Record<string, unknown>",
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
  Any: { typescript: "unknown", schema: { "x-kubernetes-preserve-unknown-fields": true } },
  NumberOrString: { typescript: "number | string", schema: { "x-kubernetes-preserve-unknown-fields": true } },
  StringOrList: { typescript: "string | string[]", schema: { "x-kubernetes-preserve-unknown-fields": true } },
  // Metadata of an object inside another: kept as it is, because pruning it would lose what its later owner needs.
  EmbeddedMeta: {
    typescript: "ObjectMeta",
    schema: { type: "object", nullable: true, "x-kubernetes-preserve-unknown-fields": true },
  },
};
