import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Clock } from "@polyvirt/core";
import { errors } from "../errors.ts";
import { fixedCredentials, type CredentialSource, type KubeConnection } from "./connection.ts";
import { execCredentials, type ExecPlugin } from "./exec-credentials.ts";
import { tokenFile } from "./in-cluster.ts";

interface KubeconfigCluster {
  server?: string;
  "certificate-authority"?: string;
  "certificate-authority-data"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
}

interface KubeconfigUser {
  token?: string;
  tokenFile?: string;
  "client-certificate"?: string;
  "client-certificate-data"?: string;
  "client-key"?: string;
  "client-key-data"?: string;
  exec?: ExecPlugin;
  username?: string;
  "auth-provider"?: unknown;
}

interface KubeconfigFile {
  "current-context"?: string;
  clusters?: { name: string; cluster?: KubeconfigCluster }[];
  users?: { name: string; user?: KubeconfigUser }[];
  contexts?: { name: string; context?: { cluster?: string; user?: string; namespace?: string } }[];
}

export interface KubeconfigOptions {
  readonly clock: Clock;
  readonly context?: string;
  /** Passed on to credential programs. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Reads a kubeconfig file; relative paths in it are relative to the file. */
export async function kubeconfigConnection(path: string, options: KubeconfigOptions): Promise<KubeConnection> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw errors.KubeConfigInvalid(`read kubeconfig ${path}: is the cluster up, and is KUBECONFIG right?`, {
      cause,
      fields: { path },
    });
  }
  const file = await parse(path, text);
  const { cluster, user, namespace } = select(path, file, options.context);
  const read = fileReader(path);
  const certificateAuthority = await read(
    cluster["certificate-authority-data"],
    cluster["certificate-authority"],
    "certificate-authority",
  );
  const server = cluster.server;
  if (server === undefined) throw invalid(path, "the cluster has no server");
  return {
    server,
    namespace,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(cluster["insecure-skip-tls-verify"] === undefined
      ? {}
      : { insecureSkipTlsVerify: cluster["insecure-skip-tls-verify"] }),
    ...(cluster["tls-server-name"] === undefined ? {} : { tlsServerName: cluster["tls-server-name"] }),
    credentials: await credentialsOf(path, user, { server, certificateAuthority }, options),
  };
}

async function parse(path: string, text: string): Promise<KubeconfigFile> {
  try {
    // JSON is the common case of our own files; YAML's parser is loaded only when it is needed.
    if (text.trimStart().startsWith("{")) return JSON.parse(text) as KubeconfigFile;
    const { parse: parseYaml } = await import("yaml");
    const parsed: unknown = parseYaml(text);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch (cause) {
    throw errors.KubeConfigInvalid(`parse kubeconfig ${path}: it is neither YAML nor JSON`, { cause });
  }
  throw invalid(path, "it is empty");
}

function select(path: string, file: KubeconfigFile, contextName: string | undefined) {
  const name = contextName ?? file["current-context"];
  if (name === undefined || name === "") throw invalid(path, "no current-context is set");
  const context = file.contexts?.find((entry) => entry.name === name)?.context;
  if (context === undefined) throw invalid(path, `context "${name}" is not there`);
  const cluster = file.clusters?.find((entry) => entry.name === context.cluster)?.cluster;
  if (cluster === undefined) throw invalid(path, `cluster "${context.cluster}" of context "${name}" is not there`);
  const user = file.users?.find((entry) => entry.name === context.user)?.user;
  if (user === undefined && context.user !== undefined && context.user !== "") {
    throw invalid(path, `user "${context.user}" of context "${name}" is not there`);
  }
  return { cluster, user: user ?? {}, namespace: context.namespace ?? "default" };
}

async function credentialsOf(
  path: string,
  user: KubeconfigUser,
  cluster: { server: string; certificateAuthority: string | undefined },
  options: KubeconfigOptions,
): Promise<CredentialSource> {
  if (user.exec !== undefined) {
    return execCredentials(user.exec, { clock: options.clock, environment: options.environment ?? {}, cluster });
  }
  if (user["auth-provider"] !== undefined) {
    throw invalid(path, "auth-provider was removed from Kubernetes; use an exec plug-in instead");
  }
  if (user.username !== undefined) throw invalid(path, "user name and password are not supported; use a certificate");
  const read = fileReader(path);
  const certificate = await read(user["client-certificate-data"], user["client-certificate"], "client-certificate");
  const key = await read(user["client-key-data"], user["client-key"], "client-key");
  if ((certificate === undefined) !== (key === undefined)) {
    throw invalid(path, "client-certificate and client-key must be given together");
  }
  if (user.token === undefined && user.tokenFile !== undefined) {
    return tokenFile(resolve(dirname(path), user.tokenFile), options.clock);
  }
  return fixedCredentials({
    ...(user.token === undefined ? {} : { token: user.token }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  });
}

/** Data in the file wins over a path, as in kubectl. */
function fileReader(path: string) {
  return async (data: string | undefined, file: string | undefined, field: string): Promise<string | undefined> => {
    if (data !== undefined && data !== "") return Buffer.from(data, "base64").toString("utf8");
    if (file === undefined || file === "") return undefined;
    try {
      return await readFile(resolve(dirname(path), file), "utf8");
    } catch (cause) {
      throw errors.KubeConfigInvalid(`read ${field} "${file}" of kubeconfig ${path}`, { cause });
    }
  };
}

function invalid(path: string, why: string): Error {
  return errors.KubeConfigInvalid(`use kubeconfig ${path}: ${why}`, { fields: { path } });
}
