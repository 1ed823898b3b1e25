/** One thing wrong with an object, in the shape and words of a Kubernetes status cause. */
export interface FieldError {
  readonly reason: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** Where, for example `spec.disks[0]`. */
  readonly field: string;
  /** Kind of error, value and detail: `Invalid value: "x": must not be x`. */
  readonly message: string;
  /** The detail alone. */
  readonly detail: string;
}

const titles: Readonly<Record<FieldError["reason"], string>> = {
  FieldValueInvalid: "Invalid value",
  FieldValueForbidden: "Forbidden",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
};

/** `value` is shown when given; objects and lists are not. */
export function fieldError(
  field: string,
  detail: string,
  options: { readonly reason?: string | undefined; readonly value?: unknown } = {},
): FieldError {
  const reason = isReason(options.reason) ? options.reason : "FieldValueInvalid";
  const { value } = options;
  const shown = reason === "FieldValueInvalid" || reason === "FieldValueDuplicate" ? showValue(value) : "";
  const body = reason === "FieldValueDuplicate" ? [titles[reason], shown] : [titles[reason], shown, detail];
  return { reason, field, detail, message: body.filter((part) => part !== "").join(": ") };
}

function isReason(reason: string | undefined): reason is FieldError["reason"] {
  return reason !== undefined && Object.hasOwn(titles, reason);
}

function showValue(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : JSON.stringify(value);
}
