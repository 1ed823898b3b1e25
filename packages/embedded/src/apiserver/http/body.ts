import type { IncomingMessage } from "node:http";

import { parse as parseYaml } from "yaml";

import { badRequest, tooLarge } from "./status-error.ts";
import { duplicateFields } from "./duplicate-fields.ts";

export const bodyLimit = 3 * 1024 * 1024;

export interface Body {
  readonly contentType: string;
  readonly text: string;
}

export async function readBody(request: IncomingMessage): Promise<Body> {
  const contentType = request.headers["content-type"] ?? "application/json";
  if (Number(request.headers["content-length"] ?? 0) > bodyLimit) throw tooLarge(bodyLimit);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // No encoding is set on the request, so chunks are buffers.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > bodyLimit) throw tooLarge(bodyLimit);
    chunks.push(bytes);
  }
  try {
    return { contentType, text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    throw badRequest("the body of the request is not valid UTF-8");
  }
}

const isYaml = (contentType: string): boolean => /\byaml\b/.test(contentType);

/** The value of a body, and the fields that occur twice in it. */
export function parseBody({ contentType, text }: Body): { value: unknown; duplicates: string[] } {
  try {
    if (!isYaml(contentType)) {
      const value: unknown = JSON.parse(text);
      return { value, duplicates: duplicateFields(text) };
    }
    return { value: parseYamlText(text), duplicates: [] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`couldn't get version/kind; ${isYaml(contentType) ? "yaml" : "json"} parse error: ${why}`);
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
