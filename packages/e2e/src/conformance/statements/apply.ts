import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import { configMap, deployment } from "./manifests.ts";

export const applyStatements = [
  {
    id: "apply",
    says: "apply creates, leaves alone what is the same, changes, and removes what the manifest no longer names",
    async run({ output }) {
      assert.equal(await output("apply -f -", deployment(2, "nodeSelector: {a: b}")), "deployment.apps/web created\n");
      assert.equal(
        await output("apply -f -", deployment(2, "nodeSelector: {a: b}")),
        "deployment.apps/web unchanged\n",
      );
      assert.equal(await output("apply -f -", deployment(3)), "deployment.apps/web configured\n");
      const fields = "jsonpath={.spec.replicas} {.metadata.generation} {.spec.template.spec.nodeSelector}";
      assert.equal(await output(["get", "deploy", "web", "-o", fields]), "3 2 ");
    },
  },
  {
    id: "diff",
    says: "diff shows what an apply would change, exits with 1 then and with 0 otherwise, and changes nothing",
    async run({ output, kubectl }) {
      await output("apply -f -", deployment(2));
      assert.equal((await kubectl("diff -f -", { input: deployment(2) })).code, 0);
      const { code, output: text } = await kubectl("diff -f -", { input: deployment(7) });
      assert.equal(code, 1);
      assert.match(text, /\n-  replicas: 2\n\+  replicas: 7\n/);
      assert.doesNotMatch(text, /\+ +image/);
      assert.equal(await output(["get", "deploy", "web", "-o", "jsonpath={.spec.replicas}"]), "2");
    },
  },
  {
    id: "edit",
    says: "edit writes what the editor left, and nothing when nothing was changed",
    async run({ output, kubectl }) {
      await output("create cm c --from-literal=a=before");
      const editor = (script: string) => ({ env: { KUBE_EDITOR: script } });
      const edited = await kubectl("edit cm c", editor("sed -i s/before/after/"));
      assert.deepEqual(edited, { code: 0, output: "configmap/c edited\n" });
      assert.equal(await output(["get", "cm", "c", "-o", "jsonpath={.data.a}"]), "after");
      const untouched = await kubectl("edit cm c", editor("true"));
      assert.deepEqual(untouched, { code: 0, output: "Edit cancelled, no changes made.\n" });
    },
  },
  {
    id: "server-side-apply",
    says: "server-side apply records who owns which field and removes what its owner no longer names",
    async run({ output, request, core }) {
      const apply = ["apply", "--server-side", "-f", "-"];
      assert.equal(await output(apply, configMap("c", "a: '1', b: '1'")), "configmap/c serverside-applied\n");
      const { json } = await request("GET", `${core}/configmaps/c`);
      const [owner] = json.metadata.managedFields;
      assert.deepEqual([owner.manager, owner.operation, owner.fieldsType], ["kubectl", "Apply", "FieldsV1"]);
      assert.deepEqual(owner.fieldsV1, { "f:data": { "f:a": {}, "f:b": {} } });
      await output(apply, configMap("c", "a: '1'"));
      assert.equal(await output(["get", "cm", "c", "-o", "jsonpath={.data}"]), '{"a":"1"}');
    },
  },
  {
    id: "apply-conflict",
    says: "server-side apply refuses to take another's field, names it, and takes it by force",
    async run({ output, refusal }) {
      await output("apply --server-side --field-manager=one -f -", configMap("c", "a: '1', mine: x"));
      const other = ["apply", "--server-side", "--field-manager=two", "-f", "-"];
      const refused = await refusal(other, configMap("c", "a: '2', b: '2'"));
      assert.match(refused, /^error: Apply failed with 1 conflict: conflict with "one": \.data\.a\nPlease review/);
      await output([...other, "--force-conflicts"], configMap("c", "a: '2', b: '2'"));
      assert.equal(
        await output(["get", "cm", "c", "-o", "jsonpath={.data}"]),
        '{"a":"2","b":"2","mine":"x"}',
        "the first keeps what nobody took",
      );
      await output("apply --server-side --field-manager=one -f -", configMap("c", "mine: x"));
      assert.equal(await output(["get", "cm", "c", "-o", "jsonpath={.data.a}"]), "2", "it is the other's now");
    },
  },
  {
    id: "apply-scale-conflict",
    says: "scaling owns the number of replicas through the scale subresource",
    async run({ output, refusal }) {
      await output("apply --server-side -f -", deployment(1));
      await output("scale deploy web --replicas=5");
      const refused = await refusal("apply --server-side -f -", deployment(2));
      assert.match(
        refused,
        /Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/,
      );
      await output("apply --server-side --force-conflicts -f -", deployment(2));
      assert.equal(await output(["get", "deploy", "web", "-o", "jsonpath={.spec.replicas}"]), "2");
    },
  },
  {
    id: "apply-lists",
    says: "two appliers own entries of one keyed list, each its own",
    async run({ output }) {
      const service = (port: string) => `---
{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {a: b}, ports: [${port}]}}`;
      const apply = (manager: string) => ["apply", "--server-side", `--field-manager=${manager}`, "-f", "-"];
      await output(apply("one"), service("{name: http, port: 80, protocol: TCP}"));
      await output(apply("two"), service("{name: https, port: 443, protocol: TCP}"));
      const names = ["get", "svc", "s", "-o", "jsonpath={.spec.ports[*].name}"];
      assert.equal(await output(names), "http https");
      await output(apply("one"), service("{name: web, port: 80, protocol: TCP}"));
      assert.equal(await output(names), "web https");
    },
  },
  {
    id: "dry-run",
    says: "a dry run answers as if, with defaults filled in, and keeps nothing",
    async run({ output, refusal }) {
      const shown = await output("create --dry-run=server -o yaml -f -", deployment(2));
      assert.match(shown, /terminationGracePeriodSeconds: 30/);
      assert.match(shown, /uid: /);
      assert.equal(await refusal("get deploy web"), 'Error from server (NotFound): deployments.apps "web" not found\n');
      await output("create cm c --from-literal=a=1");
      assert.equal(
        await output(["patch", "cm", "c", "--dry-run=server", "-p", '{"data":{"a":"2"}}']),
        "configmap/c patched\n",
      );
      assert.equal(await output("delete cm c --dry-run=server"), 'configmap "c" deleted (server dry run)\n');
      assert.equal(await output(["get", "cm", "c", "-o", "jsonpath={.data.a}"]), "1");
    },
  },
  {
    id: "generate-name",
    says: "generateName makes a fresh name of the prefix and five letters",
    async run({ request, core }) {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
      const first = await request("POST", `${core}/configmaps`, { body });
      const second = await request("POST", `${core}/configmaps`, { body });
      assert.match(first.json.metadata.name, /^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      assert.notEqual(first.json.metadata.name, second.json.metadata.name);
      assert.equal(first.json.metadata.generateName, "made-");
    },
  },
  {
    id: "replace-conflict",
    says: "replacing an object that changed meanwhile is a conflict; without a version it is not",
    async run({ output, refusal }) {
      await output("create cm c --from-literal=a=1");
      const old = await output("get cm c -o yaml");
      await output(["patch", "cm", "c", "-p", '{"data":{"a":"2"}}']);
      assert.match(
        await refusal("replace -f -", old),
        /^Error from server \(Conflict\): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again\n$/,
      );
      assert.equal(await output("replace -f -", configMap("c", "a: '3'")), "configmap/c replaced\n");
    },
  },
] satisfies Statement[];
