import { spawn } from "node:child_process";
import { describeError, type Clock } from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { Credentials, CredentialSource } from "./connection.ts";

/** `users[].user.exec` of a kubeconfig: a program that prints an ExecCredential. */
export interface ExecPlugin {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion?: string;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
}

interface ExecDeps {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Given to the program when it asks for it. */
  readonly cluster: { readonly server: string; readonly certificateAuthority?: string | undefined };
}

const TIME_LIMIT_MS = 60_000;
const MAX_OUTPUT = 1024 * 1024;
/** Ask for new credentials this long before the old ones end. */
const RENEW_BEFORE_MS = 10_000;

export function execCredentials(plugin: ExecPlugin, deps: ExecDeps): CredentialSource {
  let cached: { credentials: Credentials; expiresAt: number } | undefined;
  let running: Promise<Credentials> | undefined;
  const renew = async (): Promise<Credentials> => {
    const output = await run(plugin, deps);
    cached = parseExecCredential(plugin, output);
    return cached.credentials;
  };
  return {
    async get() {
      if (cached !== undefined && deps.clock.now() < cached.expiresAt - RENEW_BEFORE_MS) return cached.credentials;
      // Many requests at once must not start the program many times.
      running ??= renew().finally(() => (running = undefined));
      return running;
    },
    invalidate() {
      cached = undefined;
    },
  };
}

function parseExecCredential(plugin: ExecPlugin, output: string): { credentials: Credentials; expiresAt: number } {
  let parsed: { kind?: string; status?: Record<string, string | undefined> };
  try {
    parsed = JSON.parse(output) as typeof parsed;
  } catch (cause) {
    throw failed(plugin, "it did not print JSON", cause);
  }
  const status = parsed.status;
  if (parsed.kind !== "ExecCredential" || status === undefined) throw failed(plugin, "it printed no ExecCredential");
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
  if (token === undefined && (clientCertificateData === undefined || clientKeyData === undefined)) {
    throw failed(plugin, "its ExecCredential has neither a token nor a client certificate with key");
  }
  return {
    credentials: {
      ...(token === undefined ? {} : { token }),
      ...(clientCertificateData === undefined ? {} : { certificate: clientCertificateData }),
      ...(clientKeyData === undefined ? {} : { key: clientKeyData }),
    },
    expiresAt: expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationTimestamp),
  };
}

function failed(plugin: ExecPlugin, why: string, cause?: unknown): Error {
  const hint = plugin.installHint === undefined ? "" : ` (${plugin.installHint.trim()})`;
  return errors.KubeCredentialPluginFailed(`run credential program "${plugin.command}": ${why}${hint}`, {
    cause,
    fields: { command: plugin.command },
  });
}

function run(plugin: ExecPlugin, deps: ExecDeps): Promise<string> {
  const info = {
    apiVersion: plugin.apiVersion ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: {
      interactive: false,
      ...(plugin.provideClusterInfo === true
        ? {
            cluster: {
              server: deps.cluster.server,
              ...(deps.cluster.certificateAuthority === undefined
                ? {}
                : { "certificate-authority-data": Buffer.from(deps.cluster.certificateAuthority).toString("base64") }),
            },
          }
        : {}),
    },
  };
  const env = {
    ...deps.environment,
    ...Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  };
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, [...(plugin.args ?? [])], { env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let complaint = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.length > MAX_OUTPUT) child.kill("SIGKILL");
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-2000)));
    const timer = deps.clock.setTimer(TIME_LIMIT_MS, () => child.kill("SIGKILL"));
    child.once("error", (cause) => {
      timer.cancel();
      reject(failed(plugin, "it could not be started", cause));
    });
    child.once("close", (code, signal) => {
      timer.cancel();
      if (code === 0) return resolve(output);
      const end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      reject(failed(plugin, `it ended with ${end}${complaint === "" ? "" : `: ${describeError(complaint.trim())}`}`));
    });
  });
}
