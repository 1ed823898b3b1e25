import { imageErrors } from "./errors.ts";

const referencePattern =
  /^[a-z0-9]+([._-][a-z0-9]+)*(:\d+)?(\/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;

/** Adds the tag that a reference without tag and digest means. */
export function normalizeReference(reference: string): string {
  if (!referencePattern.test(reference)) {
    throw imageErrors.ImageReferenceInvalid(`read "${reference}" as an image reference`, { fields: { reference } });
  }
  const lastPart = reference.slice(reference.lastIndexOf("/") + 1);
  return /[:@]/.test(lastPart) ? reference : `${reference}:latest`;
}
