import { badRequest } from "../http/status-error.ts";
import { isJsonObject, setOwn, type JsonObject } from "../json.ts";
import { fieldsOf, type MessageField } from "./message-fields.ts";
import { wireFields, type WireField } from "./wire.ts";

export const protobufMediaType = "application/vnd.kubernetes.protobuf";

/** Every message starts so; what follows is an envelope with kind and content. */
const magic = Buffer.from("k8s\0", "latin1");
const maxDepth = 100;

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const apiextensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";

/** Kinds that are sent but are no resources of their own. */
const otherKinds: Readonly<Record<string, string>> = {
  DeleteOptions: `${meta}DeleteOptions`,
  Scale: "io.k8s.api.autoscaling.v1.Scale",
  Eviction: "io.k8s.api.policy.v1.Eviction",
  Binding: "io.k8s.api.core.v1.Binding",
  TokenRequest: "io.k8s.api.authentication.v1.TokenRequest",
};

/**
 * Reads a body in Kubernetes' protobuf form as the JSON object that it stands for. `messageOf` names the message of a kind;
 * answers are always sent as JSON, which every client also accepts.
 */
export function decodeProtobuf(
  bytes: Buffer,
  messageOf: (apiVersion: string, kind: string) => string | undefined,
): JsonObject {
  if (!bytes.subarray(0, magic.length).equals(magic))
    throw badRequest("the body does not begin like Kubernetes' protobuf");
  try {
    const { apiVersion, kind, raw } = readEnvelope(bytes.subarray(magic.length));
    const message = messageOf(apiVersion, kind) ?? otherKinds[kind];
    if (message === undefined)
      throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
    return { apiVersion, kind, ...decodeMessage(raw, message, 0) };
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) throw badRequest(`proto: ${error.message}`);
    throw error;
  }
}

function readEnvelope(bytes: Buffer): { apiVersion: string; kind: string; raw: Buffer } {
  let apiVersion = "";
  let kind = "";
  let raw: Buffer = Buffer.alloc(0);
  for (const { number, value } of wireFields(bytes)) {
    if (!Buffer.isBuffer(value)) continue;
    if (number === 1) {
      for (const field of wireFields(value)) {
        if (field.number === 1) apiVersion = textOf(field);
        if (field.number === 2) kind = textOf(field);
      }
    } else if (number === 2) {
      raw = value;
    }
  }
  return { apiVersion, kind, raw };
}

function decodeMessage(bytes: Buffer, message: string, depth: number): JsonObject {
  if (depth > maxDepth) throw new RangeError("the message is nested too deeply");
  const fields = fieldsOf(message).byNumber;
  const result: JsonObject = {};
  for (const wire of wireFields(bytes)) {
    const field = fields.get(wire.number);
    if (field === undefined) continue;
    if (field.shape === "m") addEntry(result, field, bufferOf(wire), depth);
    else if (field.shape === "r") addItem(result, field, wire, depth);
    else {
      const value = decodeValue(wire, field.type, depth);
      if (field.inline && isJsonObject(value)) Object.assign(result, value);
      else if (value !== undefined && (field.keepZero || !isZero(value))) setOwn(result, field.name, value);
    }
  }
  return result;
}

const isZero = (value: unknown): boolean => value === "" || value === 0 || value === false;

function addItem(target: JsonObject, field: MessageField, wire: WireField, depth: number): void {
  const list = Array.isArray(target[field.name]) ? (target[field.name] as unknown[]) : [];
  list.push(decodeValue(wire, field.type, depth));
  setOwn(target, field.name, list);
}

function addEntry(target: JsonObject, field: MessageField, bytes: Buffer, depth: number): void {
  let key = "";
  let value: unknown = field.type === "string" ? "" : {};
  for (const part of wireFields(bytes)) {
    if (part.number === 1) key = textOf(part);
    if (part.number === 2) value = decodeValue(part, field.type, depth);
  }
  const map = isJsonObject(target[field.name]) ? target[field.name] : {};
  setOwn(map as JsonObject, key, value);
  setOwn(target, field.name, map);
}

const bufferOf = ({ value }: WireField): Buffer => {
  if (Buffer.isBuffer(value)) return value;
  throw new RangeError("expected bytes, found a number");
};

function textOf(wire: WireField): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bufferOf(wire));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new RangeError("a text is not valid UTF-8");
  }
}

const numberOf = ({ value }: WireField): number => {
  if (Buffer.isBuffer(value)) throw new RangeError("expected a number, found bytes");
  return Number(BigInt.asIntN(64, value));
};

function decodeValue(wire: WireField, type: string, depth: number): unknown {
  switch (type) {
    case "string":
      return textOf(wire);
    case "bool":
      return numberOf(wire) !== 0;
    case "int32":
    case "int64":
    case "uint32":
    case "uint64":
      return numberOf(wire);
    case "bytes":
      return bufferOf(wire).toString("base64");
    case "double":
      return bufferOf(wire).readDoubleLE();
    default:
      return Object.hasOwn(special, type)
        ? special[type]?.(bufferOf(wire), depth)
        : decodeMessage(bufferOf(wire), type, depth + 1);
  }
}

/** Messages whose JSON is something else than an object of their fields. */
const special: Readonly<Record<string, (bytes: Buffer, depth: number) => unknown>> = {
  [`${meta}Time`]: (bytes) => timeOf(bytes, 0),
  [`${meta}MicroTime`]: (bytes) => timeOf(bytes, 6),
  [`${meta}FieldsV1`]: rawJson,
  "io.k8s.apimachinery.pkg.runtime.RawExtension": rawJson,
  [`${apiextensions}JSON`]: rawJson,
  "io.k8s.apimachinery.pkg.api.resource.Quantity": (bytes) => {
    for (const field of wireFields(bytes)) if (field.number === 1) return textOf(field);
    return "0";
  },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": (bytes) => {
    const parts = new Map([...wireFields(bytes)].map((field) => [field.number, field]));
    const type = parts.get(1);
    const [number, text] = [parts.get(2), parts.get(3)];
    if (type !== undefined && numberOf(type) === 1) return text === undefined ? "" : textOf(text);
    return number === undefined ? 0 : numberOf(number);
  },
  "io.k8s.api.authentication.v1.ExtraValue": stringItems,
  "io.k8s.api.authorization.v1.ExtraValue": stringItems,
  [`${apiextensions}JSONSchemaPropsOrArray`]: (bytes, depth) => {
    const [first] = [...wireFields(bytes)].filter(({ number }) => number === 1);
    return first === undefined
      ? undefined
      : decodeMessage(bufferOf(first), `${apiextensions}JSONSchemaProps`, depth + 1);
  },
  [`${apiextensions}JSONSchemaPropsOrBool`]: (bytes, depth) => {
    const parts = new Map([...wireFields(bytes)].map((field) => [field.number, field]));
    const schema = parts.get(2);
    if (schema !== undefined) return decodeMessage(bufferOf(schema), `${apiextensions}JSONSchemaProps`, depth + 1);
    const allows = parts.get(1);
    return allows !== undefined && numberOf(allows) !== 0;
  },
};

function stringItems(bytes: Buffer): string[] {
  return [...wireFields(bytes)].filter(({ number }) => number === 1).map(textOf);
}

function rawJson(bytes: Buffer): unknown {
  for (const field of wireFields(bytes)) if (field.number === 1) return JSON.parse(textOf(field)) as unknown;
  return undefined;
}

/** Times are seconds and nanoseconds; an empty message is no time. */
function timeOf(bytes: Buffer, digits: 0 | 6): string | undefined {
  let seconds: number | undefined;
  let nanos = 0;
  for (const field of wireFields(bytes)) {
    if (field.number === 1) seconds = numberOf(field);
    if (field.number === 2) nanos = numberOf(field);
  }
  if (seconds === undefined) return undefined;
  const base = new Date(seconds * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${base}Z` : `${base}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z`;
}
