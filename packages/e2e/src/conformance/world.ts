import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { requestOnce, type Answer, type RequestExtras } from "./request.ts";
import type { Target } from "./targets/target.ts";
import { openWatch, type OpenWatch } from "./watch.ts";
import { startWebhookServer, type AdmissionRequest, type WebhookServer } from "./webhook-server.ts";

interface KubectlResult {
  readonly code: number;
  /** What it printed, then what it complained about. */
  readonly output: string;
}

interface KubectlOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a statement may do: it has a namespace of its own on one target, and everything it sees is written down. */
export interface World {
  readonly namespace: string;
  /** `/api/v1/namespaces/<own>` */
  readonly core: string;
  readonly kubectl: (args: string | readonly string[], options?: KubectlOptions) => Promise<KubectlResult>;
  /** The output of a kubectl that must succeed. */
  readonly output: (args: string | readonly string[], input?: string) => Promise<string>;
  /** The output of a kubectl that must fail. */
  readonly refusal: (args: string | readonly string[], input?: string) => Promise<string>;
  /** Gives kubectl each manifest in turn, and fails with those that were accepted. */
  readonly refusesAll: (args: string, manifests: readonly string[]) => Promise<void>;
  readonly request: (method: string, path: string, extras?: RequestExtras) => Promise<Answer>;
  /** The same without writing it down, for what is asked until something is there. */
  readonly quietly: (method: string, path: string, extras?: RequestExtras) => Promise<Answer>;
  readonly watch: (path: string) => Promise<OpenWatch>;
  readonly serveWebhooks: (answer: (path: string, request: AdmissionRequest) => object) => Promise<WebhookServer>;
}

/** Everything a statement saw, one entry per call, in the words of the server. */
export type Transcript = string[];

export async function createWorld(target: Target, namespace: string, transcript: Transcript): Promise<World> {
  const { connection } = target;
  const core = `/api/v1/namespaces/${namespace}`;
  const kubectl: World["kubectl"] = async (given, options) => {
    const args = typeof given === "string" ? given.split(" ") : given;
    const result = await runKubectl(target, ["-n", namespace, ...args], options);
    transcript.push(`$ kubectl ${args.join(" ")}\n${result.output}(exit code ${result.code})`);
    return result;
  };
  await furnish(target, namespace, core);
  return {
    namespace,
    core,
    kubectl,
    async output(args, input) {
      const { code, output } = await kubectl(args, input === undefined ? {} : { input });
      assert.equal(code, 0, `kubectl ${String(args)} failed: ${output}`);
      return output;
    },
    async refusal(args, input) {
      const { code, output } = await kubectl(args, input === undefined ? {} : { input });
      assert.notEqual(code, 0, `kubectl ${String(args)} succeeded: ${output}`);
      return output;
    },
    async refusesAll(args, manifests) {
      const accepted: string[] = [];
      for (const input of manifests) if ((await kubectl(args, { input })).code === 0) accepted.push(input);
      assert.deepEqual(accepted, []);
    },
    async request(method, path, extras) {
      const answer = await requestOnce(connection, method, path, extras);
      const body = answer.json === undefined ? answer.text : JSON.stringify(sorted(answer.json), undefined, 1);
      transcript.push(`${method} ${path}\n${answer.status} ${body}`);
      return answer;
    },
    quietly: (method, path, extras) => requestOnce(connection, method, path, extras),
    watch: (path) => openWatch(connection, path),
    serveWebhooks: (answer) => startWebhookServer(target, answer),
  };
}

/** Lists whose order means nothing, or depends on the second in which something was written. */
const unorderedLists = new Set(["finalizers", "managedFields"]);

/** The same value with the fields of its objects by name. */
function sorted(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(item));
    return unorderedLists.has(name) ? items.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field, name)]));
}

/** Times are different in every run, so they must not decide. */
const rank = (value: unknown): string => JSON.stringify(value, (key, field: unknown) => (key === "time" ? "" : field));

/** Makes the namespace, and waits for what every namespace gets by itself. */
async function furnish({ connection }: Target, namespace: string, core: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  const made = await requestOnce(connection, "POST", "/api/v1/namespaces", { body });
  assert.equal(made.status, 201, made.text);
  for (const path of [`${core}/serviceaccounts/default`, `${core}/configmaps/kube-root-ca.crt`]) {
    await eventually(async () => (await requestOnce(connection, "GET", path)).status === 200, `${path} is there`);
  }
}

/** Waits for something that the server does by itself a little later. */
export async function eventually(look: () => Promise<boolean>, what: string, limitMs = 20_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await look())) {
    assert.ok(Date.now() < deadline, `not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function runKubectl(target: Target, args: readonly string[], options: KubectlOptions = {}): Promise<KubectlResult> {
  return new Promise((resolve, reject) => {
    const child = spawn("kubectl", args, {
      env: { ...process.env, KUBECONFIG: target.kubeconfig, HOME: target.directory, TZ: "UTC", ...options.env },
      timeout: 30_000,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? -1, output: stdout + stderr }));
    // kubectl may end without reading what it is given.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
  });
}
