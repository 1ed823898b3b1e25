import type { Status } from "@polyvirt/api/k8s";
import { describeError } from "@polyvirt/core";

/** A refusal in the words and codes of Kubernetes. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

export function statusOf(error: unknown): Status {
  const [code, reason] = error instanceof Refusal ? [error.code, error.reason] : [500, "InternalError"];
  return { apiVersion: "v1", kind: "Status", status: "Failure", code, reason, message: describeError(error) };
}
