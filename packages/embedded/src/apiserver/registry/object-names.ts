import type { ObjectMeta } from "@polyvirt/api/k8s";

import { fieldError, type FieldError } from "../http/status-error.ts";

export type NameRule = "subdomain" | "label" | "path-segment";

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainPattern = new RegExp(`^${label}(\\.${label})*$`);
const labelPattern = new RegExp(`^${label}$`);
const qualifiedNamePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValuePattern = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const wording = {
  subdomain: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${label}(\\.${label})*')`,
  label: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`,
  qualified:
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  labelValue:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
};

export function validateName(rule: NameRule, value: string, field: string): FieldError[] {
  switch (rule) {
    case "subdomain":
      return check(value, field, 253, subdomainPattern, wording.subdomain);
    case "label":
      return check(value, field, 63, labelPattern, wording.label);
    case "path-segment":
      return validatePathSegment(value, field);
  }
}

function check(value: string, field: string, limit: number, pattern: RegExp, text: string): FieldError[] {
  const found: FieldError[] = [];
  if (value.length > limit) found.push(fieldError.invalid(field, value, `must be no more than ${limit} bytes`));
  if (!pattern.test(value)) found.push(fieldError.invalid(field, value, text));
  return found;
}

function validatePathSegment(value: string, field: string): FieldError[] {
  if (value === "." || value === "..") return [fieldError.invalid(field, value, `may not be '${value}'`)];
  const bad = ["/", "%"].find((character) => value.includes(character));
  return bad === undefined ? [] : [fieldError.invalid(field, value, `may not contain '${bad}'`)];
}

/** Whether a text is a label key: a name, possibly behind a DNS prefix. Undefined when it is; else why not. */
function wrongQualifiedName(value: string): string | undefined {
  const parts = value.split("/");
  const [prefix, name = ""] = parts.length === 1 ? [undefined, parts[0]] : parts;
  if (parts.length > 2)
    return `a qualified name ${wording.qualified.slice(5)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
  if (prefix !== undefined) {
    if (prefix === "") return "prefix part must be non-empty";
    if (!subdomainPattern.test(prefix)) return `prefix part ${wording.subdomain}`;
  }
  if (name === "") return `name part must be non-empty; ${wording.qualified}`;
  if (name.length > 63) return "name part must be no more than 63 bytes";
  return qualifiedNamePattern.test(name) ? undefined : wording.qualified;
}

function wrongLabelValue(value: string): string | undefined {
  if (value.length > 63) return "must be no more than 63 bytes";
  return labelValuePattern.test(value) ? undefined : wording.labelValue;
}

function validateLabels(labels: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const wrongKey = wrongQualifiedName(key);
    const wrongValue = typeof value === "string" ? wrongLabelValue(value) : "must be a string";
    return [
      ...(wrongKey === undefined ? [] : [fieldError.invalid(field, key, wrongKey)]),
      ...(wrongValue === undefined ? [] : [fieldError.invalid(field, value, wrongValue)]),
    ];
  });
}

const annotationsLimit = 256 * 1024;

export function validateMetadata(metadata: ObjectMeta, rule: NameRule): FieldError[] {
  const found: FieldError[] = [];
  if (metadata.name === undefined || metadata.name === "") {
    found.push(fieldError.required("metadata.name", "name or generateName is required"));
  } else {
    found.push(...validateName(rule, metadata.name, "metadata.name"));
  }
  found.push(...validateLabels(metadata.labels ?? {}, "metadata.labels"));
  const annotations = Object.entries(metadata.annotations ?? {});
  for (const [key] of annotations) {
    const wrong = wrongQualifiedName(key.toLowerCase());
    if (wrong !== undefined) found.push(fieldError.invalid("metadata.annotations", key, wrong));
  }
  const size = annotations.reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(value), 0);
  if (size > annotationsLimit) found.push(fieldError.tooLong("metadata.annotations", annotationsLimit));
  for (const finalizer of metadata.finalizers ?? []) {
    const wrong = wrongQualifiedName(finalizer);
    if (wrong !== undefined) found.push(fieldError.invalid("metadata.finalizers", finalizer, wrong));
  }
  found.push(...validateOwners(metadata));
  return found;
}

function validateOwners(metadata: ObjectMeta): FieldError[] {
  const owners = metadata.ownerReferences ?? [];
  const found = owners.flatMap((owner) =>
    (["apiVersion", "kind", "name", "uid"] as const)
      .filter((key) => (owner[key] ?? "") === "")
      .map((key) => {
        const what = key === "apiVersion" ? "version must not be empty" : "must not be empty";
        return fieldError.invalid(`metadata.ownerReferences.${key}`, owner[key] ?? "", what);
      }),
  );
  const controllers = owners.filter((owner) => owner.controller === true);
  if (controllers.length > 1) {
    const [first, second] = controllers.map((owner) => `${owner.kind}/${owner.name}`);
    found.push(
      fieldError.invalid(
        "metadata.ownerReferences",
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`,
      ),
    );
  }
  return found;
}

const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** The name for a generateName prefix: five random characters without vowels, so that no word appears by chance. */
export function generateName(prefix: string, random: (limit: number) => number): string {
  const maxPrefix = 63 - 5;
  const suffix = Array.from({ length: 5 }, () => suffixAlphabet[random(suffixAlphabet.length)]).join("");
  return `${prefix.slice(0, maxPrefix)}${suffix}`;
}
