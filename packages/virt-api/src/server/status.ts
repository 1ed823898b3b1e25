import type { Status, StatusCause } from "@polyvirt/api/k8s";

/** Kubernetes' names for what an HTTP code means. */
const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  500: "InternalError",
  503: "ServiceUnavailable",
};

interface StatusDetails {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly causes?: StatusCause[];
}

/** A refusal as Kubernetes clients expect it. */
export function failure(code: number, message: string, details?: StatusDetails): Status & { code: number } {
  const reason = reasons[code];
  return {
    apiVersion: "v1",
    kind: "Status",
    metadata: {},
    status: "Failure",
    message,
    code,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
  };
}

/** Thrown by handlers to answer with this Status. */
export class Refusal extends Error {
  readonly status: Status & { code: number };

  constructor(code: number, message: string, details?: StatusDetails) {
    super(message);
    this.name = "Refusal";
    this.status = failure(code, message, details);
  }
}
