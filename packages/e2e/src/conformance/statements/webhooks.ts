import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import type { AdmissionRequest } from "../webhook-server.ts";
import { eventually, type World } from "../world.ts";
import { deployment } from "./manifests.ts";

const patch = (...operations: readonly object[]): object => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

interface Hook {
  readonly name: string;
  readonly kind: "Mutating" | "Validating";
  readonly resource?: string;
  readonly more?: object;
  readonly answer: (request: AdmissionRequest) => object;
}

/** Installs the hooks for the statement's namespace alone, runs with them, and takes them away. */
async function withHooks(
  world: World,
  hooks: readonly Hook[],
  body: (calls: string[]) => Promise<void>,
): Promise<void> {
  const calls: string[] = [];
  const server = await world.serveWebhooks((path, request) => {
    const asked = String(request.object?.metadata?.name);
    if (asked === `probe-${path.slice(1)}`) return { allowed: false, status: { message: "it is there" } };
    if (asked.startsWith("probe-")) return { allowed: true };
    const hook = hooks.find(({ name }) => path === `/${name}`);
    calls.push(`${path} ${request.operation}${request.dryRun === true ? " (dry run)" : ""}`);
    return hook?.answer(request) ?? { allowed: true };
  });
  const configuration = ({ name, kind, resource = "configmaps", more }: Hook) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: `${name}.${world.namespace}` },
    webhooks: [
      {
        name: `${name}.${world.namespace}.example.com`,
        clientConfig: { url: `${server.url}/${name}`, caBundle: server.caBundle },
        rules: [{ apiGroups: ["*"], apiVersions: ["v1"], resources: [resource], operations: ["CREATE", "UPDATE"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": world.namespace } },
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        ...more,
      },
    ],
  });
  try {
    for (const hook of hooks) {
      await world.output("create -f -", JSON.stringify(configuration(hook)));
      // Kubernetes notices a new webhook a little later.
      await eventually(() => isCalled(world, hook), `${hook.name} is called`);
    }
    calls.length = 0;
    await body(calls);
  } finally {
    for (const { name, kind } of hooks)
      await world.kubectl(`delete ${kind.toLowerCase()}webhookconfiguration ${name}.${world.namespace}`);
    await server.close();
  }
}

async function isCalled(world: World, { name, resource = "configmaps" }: Hook): Promise<boolean> {
  const api = resource === "deployments" ? world.core.replace("/api/v1", "/apis/apps/v1") : world.core;
  const body = { metadata: { name: `probe-${name}` }, spec: {} };
  const { json } = await world.quietly("POST", `${api}/${resource}?dryRun=All&fieldValidation=Ignore`, { body });
  return String(json?.message).includes("it is there");
}

export const webhookStatements = [
  {
    id: "webhooks",
    says: "mutating webhooks are called by name, again if asked to, then validating ones; a dry run says that it is one",
    async run(world) {
      const add = (key: string) => (request: AdmissionRequest) =>
        request.object.data?.[key] === undefined
          ? patch(...(request.object.data === undefined ? [{ op: "add", path: "/data", value: {} }] : []), {
              op: "add",
              path: `/data/${key}`,
              value: "x",
            })
          : { allowed: true };
      const hooks: Hook[] = [
        { name: "a", kind: "Mutating", more: { reinvocationPolicy: "IfNeeded" }, answer: add("a") },
        { name: "b", kind: "Mutating", answer: add("b") },
        { name: "v", kind: "Validating", answer: () => ({ allowed: true, warnings: ["seen by v"] }) },
      ];
      await withHooks(world, hooks, async (calls) => {
        assert.match(await world.output("create cm c"), /configmap\/c created\nWarning: seen by v\n/);
        assert.deepEqual(calls, ["/a CREATE", "/b CREATE", "/a CREATE", "/v CREATE"]);
        assert.equal(await world.output(["get", "cm", "c", "-o", "jsonpath={.data}"]), '{"a":"x","b":"x"}');
        calls.length = 0;
        await world.output("create cm d --dry-run=server");
        assert.ok(calls.every((call) => call.endsWith("(dry run)")) && calls.length > 0, calls.join());
      });
    },
  },
  {
    id: "webhook-refusals",
    says: "what a webhook refuses, and one that cannot be used, is told with its name",
    async run(world) {
      const answers: Record<string, object> = {
        plain: { allowed: false },
        words: { allowed: false, status: { message: "not today" } },
        coded: { allowed: false, status: { message: "not found", reason: "NotFound", code: 404 } },
        wrong: { ...patch({ op: "remove", path: "/nope/x" }) },
      };
      const answer = ({ object }: AdmissionRequest) => answers[object.metadata.name] ?? { allowed: true };
      const hooks: Hook[] = [{ name: "m", kind: "Mutating", answer }];
      await withHooks(world, hooks, async () => {
        assert.match(
          await world.refusal("create cm plain"),
          /admission webhook "m\.webhook-refusals\.example\.com" denied the request without explanation/,
        );
        assert.match(
          await world.refusal("create cm words"),
          /admission webhook "m\.webhook-refusals\.example\.com" denied the request: not today/,
        );
        for (const name of ["coded", "words"]) {
          await world.request("POST", `${world.core}/configmaps`, { body: { metadata: { name } } });
        }
        const wrong = await world.request("POST", `${world.core}/configmaps`, {
          body: { metadata: { name: "wrong" } },
        });
        assert.equal(wrong.status, 500);
        await world.output("create cm fine");
      });
    },
  },
  {
    id: "webhook-status",
    says: "a webhook sees a new object before it has an identity, and cannot give it a status",
    async run(world) {
      let seen: { metadata: object; status: unknown } | undefined;
      const answer = ({ object }: AdmissionRequest) => {
        seen = object;
        return patch({ op: "add", path: "/status", value: { replicas: 7 } });
      };
      await withHooks(world, [{ name: "s", kind: "Mutating", resource: "deployments", answer }], async () => {
        await world.output("create -f -", deployment(1));
        const { uid, generation, resourceVersion } = {
          uid: "",
          generation: "",
          resourceVersion: "",
          ...seen?.metadata,
        };
        assert.deepEqual([uid, generation, resourceVersion], ["", "", ""]);
        assert.equal(await world.output(["get", "deploy", "web", "-o", "jsonpath={.status.replicas}"]), "");
      });
    },
  },
] satisfies Statement[];
