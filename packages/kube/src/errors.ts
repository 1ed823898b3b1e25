import { PolyvirtError, defineErrors, type ErrorKind } from "@polyvirt/core";
import type { Status, StatusCause } from "@polyvirt/api/k8s";

export const errorKinds = {
  KubeBadRequest: {
    meaning: "The API server could not understand the request.",
    action: "Correct the request as the message says.",
    retry: false,
  },
  KubeUnauthorized: {
    meaning: "The API server did not accept the credentials.",
    action: "Check the token or client certificate in the kubeconfig; it may have expired.",
    retry: true,
  },
  KubeForbidden: {
    meaning: "The user or service account may not do this.",
    action: "Grant the permission with a Role or ClusterRole and its binding.",
    retry: true,
  },
  KubeNotFound: {
    meaning: "The object, or the kind itself, does not exist on the API server.",
    action: "Check name and namespace; for a missing kind install its CRD.",
    retry: true,
  },
  KubeAlreadyExists: {
    meaning: "An object of this name exists already.",
    action: "Use another name, or update the existing object.",
    retry: true,
  },
  KubeConflict: {
    meaning: "The object was changed by someone else since it was read, or another manager owns the field.",
    action: "Read it again, repeat the change on top, and write.",
    retry: true,
  },
  KubeGone: {
    meaning: "The resource version or continue token is too old for the API server.",
    action: "List again and go on from there.",
    retry: true,
  },
  KubeInvalid: {
    meaning: "The object was understood and refused; its fields are wrong.",
    action: "Correct the fields that the message names.",
    retry: false,
  },
  KubeTooManyRequests: {
    meaning: "The API server asks to slow down, or a disruption budget forbids the eviction for now.",
    action: "Try again later.",
    retry: true,
  },
  KubeServerError: {
    meaning: "The API server, a webhook or an aggregated API failed while it served the request.",
    action: "Read the message; if it names a webhook or service, look at that one.",
    retry: true,
  },
  KubeUnavailable: {
    meaning: "The API server could not be reached, or the connection broke.",
    action: "Check that it runs and that the address in the kubeconfig is right.",
    retry: true,
  },
  KubeTimeout: {
    meaning: "The API server did not answer within the time limit.",
    action: "Try again; if it persists, look at the API server's load and logs.",
    retry: true,
  },
  KubeAnswerUnreadable: {
    meaning: "The answer is not what a Kubernetes API server sends.",
    action: "Check that the address is that of an API server and not of a proxy or another service.",
    retry: true,
  },
  KubeConfigInvalid: {
    meaning: "The kubeconfig or in-cluster configuration cannot be used.",
    action: "Correct the file at the place that the message names.",
    retry: false,
  },
  KubeCredentialPluginFailed: {
    meaning: "The credential program named in the kubeconfig did not give credentials.",
    action: "Run the program by hand; install it if it is missing.",
    retry: true,
  },
  KubeUpgradeRefused: {
    meaning: "The API server did not switch to WebSocket.",
    action: "Read the message; the object may not be running or the user may lack the permission.",
    retry: true,
  },
  KubeHealthPortTaken: {
    meaning: "The address for the kubelet's probes cannot be used.",
    action: "Check that POD_IP is this pod's address and that no other process has the port.",
    retry: true,
  },
  KubeLeaseLost: {
    meaning: "This process is no longer the leader.",
    action: "None: another replica has taken over and this one must stop.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);

type KubeErrorCode = keyof typeof errorKinds;

/** An answer of the API server that is not a success; `status` is what it said. */
export class KubeStatusError extends PolyvirtError<KubeErrorCode> {
  readonly status: Status;
  readonly httpStatus: number;
  /** Field by field, why the object was refused. */
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, answer: { status: Status; httpStatus: number }) {
    super(code, message, {
      retry: errorKinds[code].retry,
      fields: { httpStatus: answer.httpStatus, reason: answer.status.reason, name: answer.status.details?.name },
    });
    this.status = answer.status;
    this.httpStatus = answer.httpStatus;
    this.causes = answer.status.details?.causes ?? [];
    const seconds = answer.status.details?.retryAfterSeconds;
    this.retryAfterMs = seconds === undefined ? undefined : seconds * 1000;
  }
}

const codeByReason: Readonly<Record<string, KubeErrorCode>> = {
  BadRequest: "KubeBadRequest",
  Unauthorized: "KubeUnauthorized",
  Forbidden: "KubeForbidden",
  NotFound: "KubeNotFound",
  AlreadyExists: "KubeAlreadyExists",
  Conflict: "KubeConflict",
  Gone: "KubeGone",
  Expired: "KubeGone",
  Invalid: "KubeInvalid",
  TooManyRequests: "KubeTooManyRequests",
  Timeout: "KubeTimeout",
  ServerTimeout: "KubeTimeout",
};

const codeByHttpStatus: Readonly<Record<number, KubeErrorCode>> = {
  400: "KubeBadRequest",
  401: "KubeUnauthorized",
  403: "KubeForbidden",
  404: "KubeNotFound",
  405: "KubeBadRequest",
  409: "KubeConflict",
  410: "KubeGone",
  413: "KubeBadRequest",
  415: "KubeBadRequest",
  422: "KubeInvalid",
  429: "KubeTooManyRequests",
  504: "KubeTimeout",
};

/** Turns a Status into the error of its kind. `operation` says what we tried: `get pods default/web`. */
export function errorOfStatus(operation: string, httpStatus: number, status: Status): KubeStatusError {
  const byReason = status.reason === undefined ? undefined : codeByReason[status.reason];
  const code = byReason ?? codeByHttpStatus[httpStatus] ?? "KubeServerError";
  const said = status.message === undefined || status.message === "" ? `HTTP ${httpStatus}` : status.message;
  return new KubeStatusError(code, `${operation}: ${said}`, { status, httpStatus });
}

/** The Status that an error of this package carries, for callers that pass it on. */
export function statusOf(error: unknown): Status | undefined {
  return error instanceof KubeStatusError ? error.status : undefined;
}
