import { describeError, PolyvirtError } from "@polyvirt/core";
import { errors } from "./errors.ts";

/** gRPC's status codes, by name. */
const grpcStatus = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

type GrpcStatusName = keyof typeof grpcStatus;

/** How a call failed, as it travels in trailers. */
export interface GrpcFailure {
  readonly status: GrpcStatusName;
  readonly message: string;
  /** Code of the PolyvirtError that the server threw. */
  readonly code?: string | undefined;
}

/** Trailer that carries the code of a PolyvirtError, so that the other side can tell failures apart. */
const codeTrailer = "polyvirt-error-code";
const maxMessage = 4096;

/** What a server sends for an error: its words, its code, and a status that says whether repeating may help. */
export function failureOf(error: unknown): GrpcFailure {
  const message = describeError(error).slice(0, maxMessage);
  return error instanceof PolyvirtError
    ? { status: statusOf(error), message, code: error.code }
    : { status: "INTERNAL", message };
}

function statusOf(error: PolyvirtError): GrpcStatusName {
  if (error.code.endsWith("NotSupported")) return "UNIMPLEMENTED";
  if (error.code.endsWith("NotFound")) return "NOT_FOUND";
  // KubeVirt's handler repeats on Unavailable and Aborted; a failure that may pass is Aborted, because we did answer.
  return error.retry ? "ABORTED" : "FAILED_PRECONDITION";
}

export function writeTrailers({ status, message, code }: GrpcFailure): Record<string, string> {
  return {
    "grpc-status": String(grpcStatus[status]),
    "grpc-message": percentEncode(message),
    ...(code === undefined ? {} : { [codeTrailer]: code }),
  };
}

/** The failure that trailers tell of; undefined when they say OK. */
export function readTrailers(trailers: Readonly<Record<string, unknown>>): GrpcFailure | undefined {
  const number = Number(trailers["grpc-status"] ?? Number.NaN);
  if (number === grpcStatus.OK) return undefined;
  const name = Object.entries(grpcStatus).find(([, value]) => value === number)?.[0];
  const message = trailers["grpc-message"];
  const code = trailers[codeTrailer];
  return {
    // A key of the table, or nothing that the table knows.
    status: (name as GrpcStatusName | undefined) ?? "UNKNOWN",
    message: typeof message === "string" ? percentDecode(message) : "the peer gave no reason",
    code: typeof code === "string" ? code : undefined,
  };
}

/** What a client throws for a failed call. `fields.remoteCode` is the peer's own error code, where it sent one. */
export function errorOf(operation: string, failure: GrpcFailure, cause?: unknown): PolyvirtError {
  const fields = { grpcStatus: failure.status, remoteCode: failure.code };
  const raise = clientErrors[failure.status] ?? errors.ProtocolCallFailed;
  return raise(`${operation}: ${failure.message}`, { fields, ...(cause === undefined ? {} : { cause }) });
}

const clientErrors: Partial<
  Record<
    GrpcStatusName,
    typeof errors.ProtocolUnavailable | typeof errors.ProtocolTimeout | typeof errors.ProtocolUnimplemented
  >
> = {
  UNAVAILABLE: errors.ProtocolUnavailable,
  DEADLINE_EXCEEDED: errors.ProtocolTimeout,
  UNIMPLEMENTED: errors.ProtocolUnimplemented,
};

/** Header values are ASCII; gRPC writes every other byte of a message, and the percent sign, as %XX. */
function percentEncode(text: string): string {
  return Array.from(Buffer.from(text, "utf8"), (byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x25
      ? `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
      : String.fromCodePoint(byte),
  ).join("");
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A peer that does not encode; its words are still better than none.
    return text;
  }
}
