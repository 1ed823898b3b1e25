/**
 * Static types of expressions. A type is plain data; two types are the same when `typeKey` says so. `dyn` accepts and
 * yields everything, so an expression over untyped data still checks.
 */
export type Type =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: "list"; readonly element: Type }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type }
  | { readonly kind: "wrapper"; readonly of: PrimitiveType }
  | { readonly kind: "struct"; readonly name: string }
  | { readonly kind: "opaque"; readonly name: string; readonly params: readonly Type[] }
  | { readonly kind: "type"; readonly of?: Type }
  | { readonly kind: "param"; readonly name: string };

export type PrimitiveKind =
  | "dyn"
  | "error"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration";

type PrimitiveType = { readonly kind: PrimitiveKind };

const primitive = (kind: PrimitiveKind): PrimitiveType => Object.freeze({ kind });

export const DYN = primitive("dyn");
/** The type of an expression that failed to check; it agrees with everything, so that one mistake is reported once. */
export const ERROR = primitive("error");
export const NULL = primitive("null");
export const BOOL = primitive("bool");
export const INT = primitive("int");
export const UINT = primitive("uint");
export const DOUBLE = primitive("double");
export const STRING = primitive("string");
export const BYTES = primitive("bytes");
export const TIMESTAMP = primitive("timestamp");
export const DURATION = primitive("duration");
export const TYPE: Type = { kind: "type" };

export const listOf = (element: Type): Type => ({ kind: "list", element });
export const mapOf = (key: Type, value: Type): Type => ({ kind: "map", key, value });
export const structType = (name: string): Type => ({ kind: "struct", name });
export const opaque = (name: string, ...params: Type[]): Type => ({ kind: "opaque", name, params });
export const param = (name: string): Type => ({ kind: "param", name });
export const typeOf = (of: Type): Type => ({ kind: "type", of });
export const wrapperOf = (of: PrimitiveType): Type => ({ kind: "wrapper", of });
export const optionalOf = (of: Type): Type => opaque("optional_type", of);

export function isDyn(type: Type): boolean {
  return type.kind === "dyn";
}

export function isDynOrError(type: Type): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

export function isOptional(type: Type): boolean {
  return type.kind === "opaque" && type.name === "optional_type";
}

/** What is inside an optional, or the type itself. */
export function unwrapOptional(type: Type): Type {
  return type.kind === "opaque" && type.name === "optional_type" ? (type.params[0] ?? DYN) : type;
}

/** The types that another is made of. */
export function typeParameters(type: Type): readonly Type[] {
  if (type.kind === "list") return [type.element];
  if (type.kind === "map") return [type.key, type.value];
  if (type.kind === "opaque") return type.params;
  return type.kind === "type" && type.of !== undefined ? [type.of] : [];
}

const runtimeNames: Partial<Record<Type["kind"], string>> = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
};

/** The name that `type(x)` compares by: parameters do not take part. */
export function runtimeTypeName(type: Type): string {
  if (type.kind === "struct" || type.kind === "opaque" || type.kind === "param") return type.name;
  if (type.kind === "wrapper") return runtimeTypeName(type.of);
  return runtimeNames[type.kind] ?? type.kind;
}

/** How a type is written in messages: `map(string, list(int))`. */
export function formatType(type: Type): string {
  if (type.kind === "struct" || type.kind === "param") return type.name;
  if (type.kind === "wrapper") return `wrapper(${formatType(type.of)})`;
  if (type.kind === "error") return "!error!";
  const name = type.kind === "opaque" ? type.name : type.kind;
  const parameters = typeParameters(type).map(formatType).join(", ");
  return parameters === "" ? name : `${name}(${parameters})`;
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  if (a.kind === "type") return true;
  if (a.kind === "wrapper") return b.kind === "wrapper" && a.of.kind === b.of.kind;
  if ("name" in a && (!("name" in b) || a.name !== b.name)) return false;
  const left = typeParameters(a);
  const right = typeParameters(b);
  return left.length === right.length && left.every((item, index) => sameType(item, right[index] ?? ERROR));
}
