import { describeError, PolyvirtError } from "@polyvirt/core";
import { Metadata, status, type ServiceError, type StatusObject } from "@grpc/grpc-js";
import { errors } from "./errors.ts";

/** Trailer that carries the code of a PolyvirtError, so that the other side can tell failures apart. */
const codeTrailer = "polyvirt-error-code";

interface Unimplemented {
  readonly message: string;
  readonly unimplemented: true;
}

/** What a server sends for an error: its words, its code, and a gRPC status that says whether repeating may help. */
export function toServiceError(error: unknown): Partial<StatusObject> {
  if (isUnimplemented(error)) return { code: status.UNIMPLEMENTED, details: error.message };
  const metadata = new Metadata();
  if (error instanceof PolyvirtError) metadata.set(codeTrailer, error.code);
  return { code: statusOf(error), details: describeError(error).slice(0, 4096), metadata };
}

function isUnimplemented(error: unknown): error is Unimplemented {
  return typeof error === "object" && error !== null && "unimplemented" in error;
}

function statusOf(error: unknown): status {
  if (!(error instanceof PolyvirtError)) return status.INTERNAL;
  if (error.code.endsWith("NotSupported")) return status.UNIMPLEMENTED;
  if (error.code.endsWith("NotFound")) return status.NOT_FOUND;
  // KubeVirt's handler repeats on Unavailable and Aborted; a failure that may pass is Aborted, because we did answer.
  return error.retry ? status.ABORTED : status.FAILED_PRECONDITION;
}

/** What a client throws for a failed call. `fields.remoteCode` is the peer's own error code, where it sent one. */
export function fromServiceError(operation: string, error: ServiceError): PolyvirtError {
  const remoteCode = error.metadata?.get(codeTrailer)[0]?.toString();
  const details = { fields: { grpcStatus: status[error.code] ?? String(error.code), remoteCode } };
  const words = error.details === "" ? error.message : error.details;
  const raise = clientErrors[error.code] ?? errors.ProtocolCallFailed;
  return raise(`${operation}: ${words}`, details);
}

const clientErrors: Partial<
  Record<
    status,
    typeof errors.ProtocolUnavailable | typeof errors.ProtocolTimeout | typeof errors.ProtocolUnimplemented
  >
> = {
  [status.UNAVAILABLE]: errors.ProtocolUnavailable,
  [status.DEADLINE_EXCEEDED]: errors.ProtocolTimeout,
  [status.UNIMPLEMENTED]: errors.ProtocolUnimplemented,
};
