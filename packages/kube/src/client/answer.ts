import type { IncomingMessage } from "node:http";
import { hasCode, type Clock } from "@polyvirt/core";
import type { Status } from "@polyvirt/api/k8s";
import { errors } from "../errors.ts";

const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_QUOTED = 1000;
const BODY_LIMIT_MS = 60_000;

/** Reads the whole body; a server that stops in the middle of it is not waited for. */
export async function readBody(response: IncomingMessage, operation: string, clock: Clock): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const limit = clock.setTimer(BODY_LIMIT_MS, () =>
    response.destroy(errors.KubeTimeout(`${operation}: the answer was not complete within ${BODY_LIMIT_MS / 1000} s`)),
  );
  try {
    for await (const chunk of response) {
      // No encoding is set, so chunks are buffers.
      const buffer = chunk as Buffer;
      size += buffer.length;
      if (size > MAX_BODY_BYTES) {
        response.destroy();
        throw errors.KubeAnswerUnreadable(`${operation}: the answer is larger than ${MAX_BODY_BYTES} bytes`);
      }
      chunks.push(buffer);
    }
  } catch (cause) {
    if (hasCode(cause, "KubeAnswerUnreadable") || hasCode(cause, "KubeTimeout")) throw cause;
    throw errors.KubeUnavailable(`${operation}: the connection broke while the answer was read`, { cause });
  } finally {
    limit.cancel();
  }
  return Buffer.concat(chunks);
}

export function parseJson(body: Buffer, operation: string): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw errors.KubeAnswerUnreadable(`${operation}: the answer is not JSON`, { cause });
  }
}

/** The Status of a failed answer; anything else (a proxy's page) is quoted in one. */
export function statusFrom(body: Buffer, code: number): Status {
  const text = body.toString("utf8").trim();
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && "kind" in parsed && parsed.kind === "Status") {
      return parsed as Status;
    }
  } catch {
    // Not JSON: quoted below.
  }
  return { apiVersion: "v1", kind: "Status", status: "Failure", code, message: text.slice(0, MAX_QUOTED) };
}
