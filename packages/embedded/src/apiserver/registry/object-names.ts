import type { ObjectMeta } from "@polyvirt/api/k8s";

import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "@polyvirt/core";

import { fieldError, type FieldError } from "../http/status-error.ts";
import { textOf } from "../json.ts";

export type NameRule = "subdomain" | "label" | "path-segment";

export function validateName(rule: NameRule, value: string, field: string): FieldError[] {
  return problemsOf(rule, value).map((problem) => fieldError.invalid(field, value, problem));
}

function problemsOf(rule: NameRule, value: string): readonly string[] {
  switch (rule) {
    case "subdomain":
      return checkDnsSubdomain(value);
    case "label":
      return value.includes(".") ? ["must not contain dots"] : checkDnsLabel(value);
    case "path-segment": {
      if (value === "." || value === "..") return [`may not be '${value}'`];
      const bad = ["/", "%"].find((character) => value.includes(character));
      return bad === undefined ? [] : [`may not contain '${bad}'`];
    }
  }
}

function validateLabels(labels: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...checkQualifiedName(key).map((problem) => fieldError.invalid(field, key, problem)),
    ...checkLabelValue(textOf(value)).map((problem) => fieldError.invalid(field, value, problem)),
  ]);
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
    const problems = checkQualifiedName(key.toLowerCase());
    found.push(...problems.map((problem) => fieldError.invalid("metadata.annotations", key, problem)));
  }
  const size = annotations.reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(value), 0);
  if (size > annotationsLimit) found.push(fieldError.tooLong("metadata.annotations", annotationsLimit));
  for (const finalizer of metadata.finalizers ?? []) {
    const problems = checkQualifiedName(finalizer);
    found.push(...problems.map((problem) => fieldError.invalid("metadata.finalizers", finalizer, problem)));
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
