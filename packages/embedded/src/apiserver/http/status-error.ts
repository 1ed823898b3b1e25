import type { Status, StatusCause } from "@polyvirt/api/k8s";

/** An answer that is a failure: everything a client gets is in the Status. */
export class StatusError extends Error {
  readonly status: Status & { code: number };
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: Status["details"],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "StatusError";
    this.headers = headers;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason === "" ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

const qualified = ({ group, plural }: GroupResource): string => (group === "" ? plural : `${plural}.${group}`);

function detailsOf(resource: GroupResource, name: string): NonNullable<Status["details"]> {
  return {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

export const notFound = (resource: GroupResource, name: string): StatusError =>
  new StatusError(404, "NotFound", `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));

export const noSuchRoute = (): StatusError =>
  new StatusError(404, "NotFound", "the server could not find the requested resource", {});

export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  new StatusError(409, "AlreadyExists", `${qualified(resource)} "${name}" already exists`, detailsOf(resource, name));

export const conflict = (
  resource: GroupResource,
  name: string,
  why = "the object has been modified; please apply your changes to the latest version and try again",
): StatusError =>
  new StatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );

export const forbidden = (resource: GroupResource, name: string, why: string): StatusError =>
  new StatusError(
    403,
    "Forbidden",
    `${qualified(resource)}${name === "" ? "" : ` "${name}"`} is forbidden: ${why}`,
    detailsOf(resource, name),
  );

export const badRequest = (message: string): StatusError => new StatusError(400, "BadRequest", message);

export const nameMissing = (name: string): StatusError =>
  badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);

export const unauthorized = (): StatusError => new StatusError(401, "Unauthorized", "Unauthorized");

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

export const tooLarge = (limit: number): StatusError =>
  new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);

export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );

/** For patches the custom resource's server names what it accepts, the others say no more than this. */
export const unsupportedPatchType = (): StatusError =>
  new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${accepted.join(", ")}`, {});

export const expired = (message: string, continueToken?: string): StatusError => {
  const error = new StatusError(410, "Expired", message);
  if (continueToken !== undefined) error.status.metadata = { continue: continueToken };
  return error;
};

export const revisionTooLarge = (asked: number, current: number): StatusError =>
  new StatusError(
    504,
    "Timeout",
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
    { "Retry-After": "1" },
  );

/** What Go says about a text that should be a number. */
export const notANumber = (text: string): string =>
  `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;

export const internalError = (message: string): StatusError =>
  new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

export const unavailable = (message: string): StatusError =>
  new StatusError(503, "ServiceUnavailable", message, { retryAfterSeconds: 1 }, { "Retry-After": "1" });

export const tooManyRequests = (message: string, details: Status["details"] = {}): StatusError =>
  new StatusError(429, "TooManyRequests", message, details);

/** One wrong field of an object. The cause's message leaves the field out, as clients put it in front themselves. */
export interface FieldError {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  fieldErrors: readonly FieldError[],
): StatusError {
  const causes: StatusCause[] = fieldErrors.map(({ field, reason, message }) => ({ reason, message, field }));
  // All are causes; the message says the same thing once.
  const texts = [...new Set(fieldErrors.map(({ field, message }) => `${field}: ${message}`))];
  const joined = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const qualifiedKind = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  return new StatusError(422, "Invalid", `${qualifiedKind} "${name}" is invalid: ${joined}`, {
    ...(name === "" ? {} : { name }),
    ...(kind.group === "" ? {} : { group: kind.group }),
    ...(kind.kind === "" ? {} : { kind: kind.kind }),
    causes,
  });
}

const show = (value: unknown): string => (value === undefined ? '""' : JSON.stringify(value));

type OptionsKind = "ListOptions" | "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

/** Options of a request, in its query or its body, that are wrong or do not go together. */
export const invalidOptions = (kind: OptionsKind, error: FieldError): StatusError =>
  invalid({ group: "meta.k8s.io", kind }, "", [error]);

export const fieldError = {
  required: (field: string, detail = ""): FieldError => ({
    field,
    reason: "FieldValueRequired",
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({
    field,
    reason: "FieldValueInvalid",
    message: `Invalid value: ${show(value)}: ${detail}`,
  }),
  typeInvalid: (field: string, value: unknown, detail: string): FieldError => ({
    field,
    reason: "FieldValueTypeInvalid",
    message: `Invalid value: ${show(value)}: ${detail}`,
  }),
  notSupported: (field: string, value: unknown, supported: readonly string[]): FieldError => ({
    field,
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${show(value)}: supported values: ${supported.map((item) => JSON.stringify(item)).join(", ")}`,
  }),
  forbidden: (field: string, detail: string): FieldError => ({
    field,
    reason: "FieldValueForbidden",
    message: `Forbidden: ${detail}`,
  }),
  duplicate: (field: string, value: unknown): FieldError => ({
    field,
    reason: "FieldValueDuplicate",
    message: `Duplicate value: ${show(value)}`,
  }),
  tooLong: (field: string, limit: number): FieldError => ({
    field,
    reason: "FieldValueTooLong",
    message: `Too long: may not be more than ${limit} bytes`,
  }),
  tooMany: (field: string, actual: number, limit: number): FieldError => ({
    field,
    reason: "FieldValueTooMany",
    message: `Too many: ${actual}: must have at most ${limit} items`,
  }),
};
