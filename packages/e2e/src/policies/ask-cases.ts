import assert from "node:assert/strict";
import { buildCustomResourceDefinition } from "@polyvirt/api/crds";
import { keepAliveAgent, requestOnce, type Answer } from "../conformance/request.ts";
import type { Target } from "../conformance/targets/target.ts";
import { eventually } from "../conformance/world.ts";
import type { Answers } from "./compare-answers.ts";
import { boundPolicy, installationPath, type PolicyCase, type PolicyRequest } from "./policy-case.ts";
import { createMachine } from "./machine.ts";
import { createWidget, widgetDefinition, widgetWriteRules } from "./widget.ts";

const marker = "policies-are-known";

/** Installs everything, waits until the server acts on it, then asks case by case; says what it answered to each. */
export async function askCases(target: Target, cases: readonly PolicyCase[]): Promise<Answers> {
  const asker = new Asker(target);
  const answers = new Map<string, string[]>();
  await asker.prepare();
  await inTurns(cases, async (item) => {
    await asker.namespace(item.id, item.labels ?? {});
    const said: string[] = [];
    answers.set(item.id, said);
    for (const request of item.objects ?? []) await asker.ask(request, item.id);
    for (const installation of item.policies) {
      const path = installationPath(installation);
      said.push(await asker.ask({ method: "POST", path, body: installation.body }, item.id, "verdict"));
    }
  });
  await asker.awaitPolicies();
  // Of a kind that was refused nothing can be asked.
  const refused = (item: PolicyCase): boolean =>
    item.policies.some(({ plural }) => plural === "customresourcedefinitions") &&
    answers.get(item.id)?.[0]?.includes("\n201") !== true;
  const open = cases.filter((item) => !refused(item));
  await asker.awaitKinds(open);
  await inTurns(open, async (item) => {
    for (const request of item.requests) answers.get(item.id)?.push(await asker.ask(request, item.id));
  });
  return answers;
}

/** A few at a time: requests of one case follow each other, cases do not wait for others. */
async function inTurns<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await act(next);
  };
  await Promise.all([work(), work(), work(), work()]);
}

class Asker {
  readonly #target: Target;
  readonly #agent = keepAliveAgent(4);

  constructor(target: Target) {
    this.#target = target;
  }

  #send(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const extras = { headers, agent: this.#agent, ...(body === undefined ? {} : { body }) };
    return requestOnce(this.#target.connection, method, path, extras);
  }

  async #make(path: string, body: object): Promise<void> {
    const { status, text } = await this.#send("POST", path, body);
    assert.equal(status, 201, `${path}: ${text}`);
  }

  /** The kind of most objects, and what users other than the administrator may do. */
  async prepare(): Promise<void> {
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await this.#make(definitions, widgetDefinition);
    await this.#make(definitions, buildCustomResourceDefinition("VirtualMachineInstance"));
    for (const path of ["/apis/policies.example.com/v1/widgets", "/apis/kubevirt.io/v1/virtualmachineinstances"]) {
      await eventually(async () => (await this.#send("GET", path)).status === 200, `${path} is served`);
    }
    const access = "/apis/rbac.authorization.k8s.io/v1";
    await this.#make(`${access}/clusterroles`, {
      metadata: { name: "policy-cases" },
      rules: [
        { apiGroups: ["policies.example.com"], resources: ["*"], verbs: ["create", "update", "delete", "get"] },
        { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
      ],
    });
    await this.#make(`${access}/clusterrolebindings`, {
      metadata: { name: "policy-cases" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "policy-cases" },
      subjects: ["writers", "readers-and-writers"].map((name) => ({
        apiGroup: "rbac.authorization.k8s.io",
        kind: "Group",
        name,
      })),
    });
  }

  namespace(name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    return this.#make("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  }

  /** Kubernetes looks at policies once a second: what was installed last says that the others are known too. */
  async awaitPolicies(): Promise<void> {
    await this.namespace(marker, {});
    const [rule] = widgetWriteRules;
    const groups = ["policies.example.com", "kubevirt.io"];
    const matchConstraints = { resourceRules: [{ ...rule, apiGroups: groups, resources: ["*"] }] };
    // One that applies a configuration, because those have to wait until the schemas of kinds are known too.
    const expression = "Object{metadata: Object.metadata{labels: {'known': 'yes'}}}";
    const mutation = { patchType: "ApplyConfiguration", applyConfiguration: { expression } };
    const installations = [
      ...boundPolicy("validating", marker, {
        namespace: marker,
        spec: { matchConstraints, validations: [{ expression: "!has(object.metadata.labels)", message: "known" }] },
        binding: { validationActions: ["Deny"] },
      }),
      ...boundPolicy("mutating", marker, {
        namespace: marker,
        spec: { matchConstraints, reinvocationPolicy: "Never", mutations: [mutation] },
      }),
    ];
    for (const installation of installations) await this.#make(installationPath(installation), installation.body);
    for (const { method, path, body } of [createWidget(marker, {}, {}), createMachine(marker, {})]) {
      const look = async (): Promise<boolean> => {
        const { text } = await this.#send(method, `${path.replace("<namespace>", marker)}?dryRun=All`, body);
        return text.includes("denied request: known");
      };
      await eventually(look, `policies are known at ${path}`, 60_000);
    }
  }

  /** A kind is served a little after its definition was accepted. */
  async awaitKinds(cases: readonly PolicyCase[]): Promise<void> {
    const definitions = cases.flatMap(({ policies }) =>
      policies.filter(({ plural }) => plural === "customresourcedefinitions"),
    );
    for (const { body } of definitions) {
      const [plural, ...group] = body.metadata.name.split(".");
      const path = `/apis/${group.join(".")}/v1/${plural}`;
      await eventually(async () => (await this.#send("GET", path)).status === 200, `${path} is served`);
    }
  }

  /** What the server says to a request: a verdict with its words and warnings, and the object unless only that is asked. */
  async ask({ method, path, body, user }: PolicyRequest, namespace: string, detail = "object"): Promise<string> {
    const full = path.replace("<namespace>", namespace);
    const headers: Record<string, string> = {
      ...(user === undefined ? {} : { "Impersonate-User": user.name, "Impersonate-Group": user.group }),
      ...(method === "PATCH" ? { "Content-Type": "application/json-patch+json" } : {}),
    };
    const answer = await this.#send(method, full, body, headers);
    const content: unknown = answer.json;
    const text = answer.status >= 400 || detail === "object" ? JSON.stringify(visible(content), undefined, 1) : "";
    const warnings = [answer.headers["warning"] ?? []].flat().flatMap((line) => line.split(/, (?=299 )/));
    return [`${method} ${full}`, `${answer.status} ${text}`, ...warnings.toSorted()].join("\n");
  }
}

/** Without what no policy decides, and by name: the order of fields means nothing. */
function visible(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !["managedFields", "uid"].includes(name));
  return Object.fromEntries(
    fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, visible(field)]),
  );
}
