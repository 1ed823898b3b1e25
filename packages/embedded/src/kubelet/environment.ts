import type { ConfigMap, Container, EnvVar, Pod, Secret } from "@polyvirt/api/k8s";
import { errors } from "../errors.ts";
import { fieldValue, resourceValue, type DownwardFacts } from "./downward.ts";

/** Where the values of references come from; undefined when the object does not exist. */
export interface EnvironmentSources {
  configMap(name: string): ConfigMap | undefined;
  secret(name: string): Secret | undefined;
}

/**
 * The environment of a container: first `base` (what the cluster gives to everybody), then envFrom, then env in their
 * order, where `$(NAME)` refers to what was defined before.
 */
export function resolveEnvironment(
  pod: Pod,
  container: Container,
  context: { base: ReadonlyMap<string, string>; facts: DownwardFacts; sources: EnvironmentSources },
): Map<string, string> {
  const result = new Map(context.base);
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    const values =
      configMapRef === undefined
        ? optionalData(context.sources.secret(secretRef?.name ?? ""), secretRef, "secret", secretText)
        : optionalData(context.sources.configMap(configMapRef.name ?? ""), configMapRef, "configmap", configMapText);
    for (const [key, value] of values) result.set(`${prefix}${key}`, value);
  }
  for (const variable of container.env ?? []) {
    const value = variable.valueFrom === undefined ? (variable.value ?? "") : undefined;
    const resolved = value === undefined ? fromSource(pod, container, variable, context) : expand(value, result);
    if (resolved !== undefined) result.set(variable.name, resolved);
  }
  return result;
}

/** Command and arguments refer to the environment with `$(NAME)`. */
export function expandAll(texts: readonly string[], environment: ReadonlyMap<string, string>): string[] {
  return texts.map((text) => expand(text, environment));
}

/** `$(NAME)` becomes the value, `$$(NAME)` becomes `$(NAME)`, and an unknown name stays as it is. */
export function expand(text: string, environment: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (match, name: string | undefined) =>
    name === undefined ? "$" : (environment.get(name) ?? match),
  );
}

function optionalData<T>(
  object: T | undefined,
  reference: { name?: string; optional?: boolean } | undefined,
  kind: string,
  read: (object: T) => [string, string][],
): [string, string][] {
  if (object !== undefined) return read(object);
  if (reference?.optional === true) return [];
  throw errors.KubeletConfigMissing(`${kind} "${reference?.name ?? ""}" not found`);
}

function fromSource(
  pod: Pod,
  container: Container,
  variable: EnvVar,
  context: { facts: DownwardFacts; sources: EnvironmentSources },
): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = variable.valueFrom ?? {};
  if (fieldRef !== undefined) {
    return required(fieldValue(pod, fieldRef.fieldPath, context.facts), variable, fieldRef.fieldPath);
  }
  if (resourceFieldRef !== undefined) {
    const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
    const named = all.find(({ name }) => name === resourceFieldRef.containerName) ?? container;
    return required(resourceValue(named, resourceFieldRef, context.facts), variable, resourceFieldRef.resource);
  }
  const reference = configMapKeyRef ?? secretKeyRef;
  if (reference === undefined) return "";
  const kind = configMapKeyRef === undefined ? "secret" : "configmap";
  const values =
    configMapKeyRef === undefined
      ? mapOf(context.sources.secret(reference.name ?? ""), secretText)
      : mapOf(context.sources.configMap(reference.name ?? ""), configMapText);
  const value = values?.get(reference.key);
  if (value !== undefined || reference.optional === true) return value;
  throw errors.KubeletConfigMissing(
    values === undefined
      ? `${kind} "${reference.name ?? ""}" not found`
      : `couldn't find key ${reference.key} in ${kind} ${pod.metadata.namespace ?? ""}/${reference.name ?? ""}`,
  );
}

function required(value: string | undefined, variable: EnvVar, field: string): string {
  if (value !== undefined) return value;
  throw errors.KubeletConfigMissing(
    `variable ${variable.name} refers to ${field}, which is not available to a container`,
  );
}

function mapOf<T>(object: T | undefined, read: (object: T) => [string, string][]): Map<string, string> | undefined {
  return object === undefined ? undefined : new Map(read(object));
}

function secretText(secret: Secret): [string, string][] {
  return Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]);
}

function configMapText(configMap: ConfigMap): [string, string][] {
  return Object.entries(configMap.data ?? {});
}
