import type { IncomingMessage } from "node:http";

import { parse as parseYaml } from "yaml";

import { builtinMessage } from "../kinds/index.ts";
import { decodeProtobuf, protobufMediaType } from "../protobuf/decode-protobuf.ts";
import { summary } from "./body-summary.ts";
import { duplicateFields } from "./duplicate-fields.ts";
import { inexactNumber } from "./inexact-number.ts";
import { badRequest, StatusError, tooLarge, unsupportedMediaType } from "./status-error.ts";

const bodyLimit = 3 * 1024 * 1024;
const bodyTimeoutMs = 60_000;

export interface Body {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A body's value, and the fields that occur twice in it, which parsing alone would hide. */
export interface ParsedBody {
  readonly value: unknown;
  readonly duplicates: readonly string[];
}

export async function readBody(request: IncomingMessage): Promise<Body> {
  const contentType = request.headers["content-type"] ?? "application/json";
  if (Number(request.headers["content-length"] ?? 0) > bodyLimit) throw tooLarge(bodyLimit);
  const chunks: Buffer[] = [];
  let size = 0;
  // One limit for the whole body, so that nobody holds a request open by trickling.
  const timer = setTimeout(() => request.destroy(), bodyTimeoutMs);
  try {
    for await (const chunk of request) {
      // No encoding is set on the request, so chunks are buffers.
      const bytes = chunk as Buffer;
      size += bytes.length;
      if (size > bodyLimit) throw tooLarge(bodyLimit);
      chunks.push(bytes);
    }
  } finally {
    clearTimeout(timer);
  }
  return { contentType, bytes: Buffer.concat(chunks) };
}

/** A body that should hold an object of the kind: what keeps it from being read is told with the text that it is about. */
export function parseObjectBody(body: Body, kind: string): ParsedBody {
  const unrecognized = (why: string) =>
    badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(body.bytes)})`);
  let parsed: ParsedBody;
  try {
    parsed = parseBody(body);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    throw unrecognized(error.message);
  }
  if (parsed.value === undefined) throw unrecognized(`${unreadable} unexpected end of JSON input`);
  if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) {
    const found = Array.isArray(parsed.value) ? "array" : typeof parsed.value;
    throw unrecognized(`${unreadable} json: cannot unmarshal ${found} into Go value of type ${typeMetaText}`);
  }
  return parsed;
}

const unreadable = "couldn't get version/kind; json parse error:";
const typeMetaText =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export function parseBody({ contentType, bytes }: Body): ParsedBody {
  if (bytes.length === 0) return { value: undefined, duplicates: [] };
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === protobufMediaType) return { value: decodeProtobuf(bytes, builtinMessage), duplicates: [] };
  const isYaml = type === "application/yaml" || type.endsWith("+yaml");
  if (!isYaml && type !== "application/json" && !type.endsWith("+json")) {
    throw unsupportedMediaType(["application/json", "application/yaml", protobufMediaType]);
  }
  const text = decodeText(bytes);
  if (text.trim() === "") return { value: undefined, duplicates: [] };
  const parsed = parseText(text, isYaml);
  const inexact = inexactNumber(text);
  if (inexact !== undefined) throw badRequest(`${inexact} cannot be kept exactly: use a number within ±2^53`);
  if (isDeeperThan(parsed.value, maxDepth))
    throw badRequest(`exceeded max depth: nothing may be nested more than ${maxDepth} levels`);
  return parsed;
}

/** No sensible object is nested this deeply, and everything that walks through objects can rely on it. */
const maxDepth = 500;

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => isDeeperThan(child, levels - 1));
}

function parseText(text: string, isYaml: boolean): ParsedBody {
  try {
    return isYaml
      ? { value: parseYamlText(text), duplicates: [] }
      : { value: JSON.parse(text), duplicates: duplicateFields(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (isYaml) throw badRequest(`couldn't get version/kind; yaml parse error: ${why}`);
    throw badRequest(`${unreadable} ${endsEarly(text, why) ? "unexpected end of JSON input" : why}`);
  }
}

/** The parser names the place where it stopped, or that there is no more. */
function endsEarly(text: string, why: string): boolean {
  const place = /at position (\d+)/.exec(why)?.[1];
  return place === undefined ? why.startsWith("Unexpected end") : Number(place) >= text.length;
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badRequest("the body of the request is not valid UTF-8");
  }
}

/** Aliases are limited, because a short text of nested ones can stand for gigabytes. */
function parseYamlText(text: string): unknown {
  // What apply sends is often JSON already, which parses much faster as such.
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch {
      // Not JSON after all: YAML may begin with a brace too.
    }
  }
  return parseYaml(text, { schema: "core", version: "1.2", maxAliasCount: 100, strict: true, uniqueKeys: true });
}
