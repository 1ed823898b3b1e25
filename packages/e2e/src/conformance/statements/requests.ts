import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import type { World } from "../world.ts";
import { widgetDefinition } from "./manifests.ts";

/** Method, path, the code of the answer, and the body. Everything else of the answer is compared between the servers. */
type Request = readonly [method: string, path: string, code: number, body?: unknown, contentType?: string];

async function ask({ request }: World, requests: readonly Request[]): Promise<void> {
  for (const [method, path, code, body, contentType] of requests) {
    const headers = contentType === undefined ? {} : { "Content-Type": contentType };
    const answer = await request(method, path, { ...(body === undefined ? {} : { body }), headers });
    assert.equal(answer.status, code, `${method} ${path}: ${answer.text}`);
  }
}

const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";
const applied = "application/apply-patch+yaml";
const jsonPatch = "application/json-patch+json";
const createC = (core: string): Request => ["POST", `${core}/configmaps`, 201, { metadata: { name: "c" } }];

export const requestStatements = [
  {
    id: "options",
    says: "options that are wrong or do not go together are refused before anything is done",
    async run(world) {
      const { core } = world;
      const maps = `${core}/configmaps`;
      await ask(world, [
        createC(core),
        ["POST", `${maps}?dryRun=Nope`, 422, { metadata: { name: "x" } }],
        ["POST", `${maps}?fieldValidation=Nope`, 422, { metadata: { name: "x" } }],
        ["PATCH", `${maps}/c?force=true`, 422, {}, merge],
        ["PATCH", `${maps}/c`, 422, { apiVersion: "v1", kind: "ConfigMap" }, applied],
        ["DELETE", `${maps}/c`, 422, { propagationPolicy: "Orphan", orphanDependents: true }],
        ["DELETE", `${maps}/c`, 422, { dryRun: ["x"] }],
        ["DELETE", `${maps}/c`, 400, { kind: "Pod", apiVersion: "v1" }],
        ["DELETE", `${maps}/c?dryRun=All`, 200],
        ["GET", `${maps}?resourceVersionMatch=Nope&resourceVersion=1`, 422],
        ["GET", `${maps}?resourceVersionMatch=Exact&resourceVersion=0`, 422],
        ["GET", `${maps}?limit=x`, 400],
        ["GET", `${maps}/c?resourceVersion=x`, 500],
        ["GET", `${maps}/c?resourceVersion=99999999`, 504],
        ["GET", `${maps}/c`, 200],
      ]);
    },
  },
  {
    id: "methods",
    says: "what cannot be done to a path is not allowed there",
    async run(world) {
      const { core } = world;
      await ask(world, [
        createC(core),
        ["POST", `${core}/configmaps/c`, 405, {}],
        ["PUT", `${core}/configmaps`, 405, {}],
        ["POST", "/apis/apps/v1/deployments", 405, { metadata: { name: "x" } }],
        ["DELETE", "/api/v1/namespaces", 405],
        ["GET", `${core}/configmaps/c/status`, 404],
        ["GET", `${core}/nope`, 404],
      ]);
    },
  },
  {
    id: "selectors-wrong",
    says: "selectors that cannot be read are refused with what was found and expected",
    async run(world) {
      const texts = ["a=b=c", "a in b", ",", "a>=x", "a>x", "-a=x", "a=-x-", "a,", "a in (b", "!", "a b"];
      const wrong = texts.map((text): Request => {
        return ["GET", `${world.core}/configmaps?labelSelector=${encodeURIComponent(text)}`, 400];
      });
      const fields = ["a", "spec.foo=x", "status.phase=x"].map((text): Request => {
        return ["GET", `${world.core}/configmaps?fieldSelector=${encodeURIComponent(text)}`, 400];
      });
      await ask(world, [...wrong, ...fields]);
    },
  },
  {
    id: "field-selectors",
    says: "each kind has its fields to select by",
    async run(world) {
      const { core } = world;
      const pods = ["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"];
      pods.push("spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName", "metadata.name");
      const by = (path: string, fields: readonly string[]): Request[] =>
        fields.map((field) => ["GET", `${path}?fieldSelector=${field}%3Dx`, 200]);
      await ask(world, [
        ...by(`${core}/pods`, pods),
        ...by(`${core}/events`, ["involvedObject.kind", "involvedObject.uid", "reason", "source", "type"]),
        ...by(`${core}/secrets`, ["type"]),
        ...by(`${core}/services`, ["spec.type", "spec.clusterIP"]),
        ...by("/api/v1/nodes", ["spec.unschedulable"]),
        ...by("/api/v1/namespaces", ["status.phase"]),
        ["GET", `/apis/apps/v1/namespaces/${world.namespace}/replicasets?fieldSelector=status.replicas%3D1`, 400],
      ]);
    },
  },
  {
    id: "foreign-token",
    says: "a continue token leads nowhere outside the list it is used for",
    async run(world) {
      const token = { v: "meta.k8s.io/v1", rv: 5, start: "../../secrets" };
      const text = Buffer.from(JSON.stringify(token)).toString("base64url");
      await ask(world, [["GET", `${world.core}/configmaps?limit=1&continue=${text}`, 400]]);
    },
  },
  {
    id: "empty-collections",
    says: "lists and maps without content are left out of built-in kinds and of everyone's metadata",
    async run(world) {
      const { core } = world;
      const metadata = { name: "c", labels: {}, annotations: {}, finalizers: [], ownerReferences: [] };
      const { json } = await world.request("POST", `${core}/configmaps`, {
        body: { metadata, data: {}, binaryData: {} },
      });
      assert.deepEqual(Object.keys(json.metadata).toSorted(), [
        "creationTimestamp",
        "name",
        "namespace",
        "resourceVersion",
        "uid",
      ]);
      assert.equal(json.data, undefined);
      await ask(world, [["PATCH", `${core}/configmaps/c`, 200, { metadata: { labels: {} } }, merge]]);
    },
  },
  {
    id: "identity",
    says: "a patch cannot change what identifies an object",
    async run(world) {
      const path = `${world.core}/configmaps/c`;
      await ask(world, [
        createC(world.core),
        ["PATCH", path, 200, { metadata: { uid: null, generation: 7 } }, merge],
        ["PATCH", path, 200, { metadata: { creationTimestamp: "2020-01-01T00:00:00Z" } }, merge],
        ["PATCH", path, 400, { metadata: null }, merge],
        ["PATCH", path, 400, { metadata: { namespace: "other" } }, merge],
        ["PATCH", path, 400, [], merge],
        ["PATCH", path, 400, [], strategic],
        ["PATCH", path, 415, {}, "application/json"],
      ]);
      for (const metadata of [{ uid: "1" }, { deletionTimestamp: "2020-01-01T00:00:00Z" }]) {
        const { output, code } = await world.kubectl(["patch", "cm", "c", "-p", JSON.stringify({ metadata })]);
        assert.notEqual(code, 0);
        assert.match(output, /field is immutable/);
      }
    },
  },
  {
    id: "strategic-directives",
    says: "directions inside a strategic patch delete, replace, keep and order",
    async run(world) {
      const { core } = world;
      const pod = `${core}/pods/p`;
      const containers = [{ name: "a", image: "x", ports: [{ containerPort: 1 }, { containerPort: 2 }] }];
      const metadata = { name: "p", labels: { a: "1", b: "2" }, finalizers: ["x.io/a", "x.io/b"] };
      await ask(world, [["POST", `${core}/pods`, 201, { metadata, spec: { containers } }]]);
      const patch = async (code: number, body: object) => {
        const answer = await world.request("PATCH", `${pod}?fieldManager=m`, {
          body,
          headers: { "Content-Type": strategic },
        });
        assert.equal(answer.status, code, answer.text);
        return answer.json.metadata;
      };
      assert.deepEqual((await patch(200, { metadata: { labels: { $patch: "replace", c: "3" } } })).labels, { c: "3" });
      const remove = { "$deleteFromPrimitiveList/finalizers": ["x.io/a"] };
      assert.deepEqual((await patch(200, { metadata: remove })).finalizers, ["x.io/b"]);
      await patch(400, { metadata: { $retainKeys: ["name"], labels: { a: "b" } } });
      await patch(500, { metadata: { labels: { $patch: "bogus" } } });
      await patch(500, { spec: { containers: [{ image: "y" }] } });
      await patch(200, { metadata: { finalizers: null } });
    },
  },
  {
    id: "apply-corners",
    says: "server-side apply wants a known type, a name and known fields; forgotten owners come back as one",
    async run(world) {
      const maps = `${world.core}/configmaps`;
      const typed = { apiVersion: "v1", kind: "ConfigMap" };
      await ask(world, [
        ["PATCH", `${maps}/n?fieldManager=a`, 400, { ...typed, metadata: { name: "other" } }, applied],
        ["PATCH", `${maps}/n?fieldManager=a`, 400, typed, applied],
        ["PATCH", `${maps}/n?fieldManager=a`, 400, { kind: "ConfigMap" }, applied],
        ["PATCH", `${maps}/n?fieldManager=a`, 400, { apiVersion: "v1", kind: "Secret" }, applied],
        ["PATCH", `${maps}/n?fieldManager=a`, 500, { ...typed, metadata: { name: "n" }, bogus: 1 }, applied],
        ["PATCH", `${maps}/n?fieldManager=a`, 201, { ...typed, metadata: { name: "n" }, data: { a: "1" } }, applied],
        ["PATCH", `${maps}/n`, 200, { metadata: { managedFields: [{}] } }, merge],
        ["PATCH", `${maps}/n?fieldManager=m`, 200, { data: { b: "1" } }, merge],
      ]);
      const { json } = await world.request("PATCH", `${maps}/n?fieldManager=z`, {
        body: { ...typed, data: { c: "1" } },
        headers: { "Content-Type": applied },
      });
      const managers = json.metadata.managedFields.map(({ manager }: { manager: string }) => manager);
      assert.deepEqual(managers.toSorted(), ["before-first-apply", "z"]);
    },
  },
  {
    id: "crd-versions",
    says: "each version of a custom resource shows what its schema knows, with its defaults",
    async run(world) {
      const { namespace } = world;
      const group = `${namespace}.example.com`;
      const version = (name: string, more: object, spec: object) => ({
        name,
        served: true,
        storage: name === "v1",
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: spec } } } },
        ...more,
      });
      const definition = {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `gadgets.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "gadgets", kind: "Gadget", shortNames: ["gd"] },
          versions: [
            version("v1", {}, { a: { type: "string", default: "x" }, n: { type: "string", nullable: true } }),
            version("v1beta1", { deprecated: true }, { a: { type: "string" }, b: { type: "integer" } }),
          ],
        },
      };
      await world.output("apply -f -", JSON.stringify(definition));
      await world.output(`wait --for=condition=Established crd/gadgets.${group} --timeout=10s`);
      const path = (name: string) => `/apis/${group}/${name}/namespaces/${namespace}/gadgets`;
      const gadget = (name: string, spec: object) => ({
        apiVersion: `${group}/${name}`,
        kind: "Gadget",
        metadata: { name: name.replace("v1", "g") },
        spec,
      });
      await ask(world, [
        ["POST", path("v1"), 201, gadget("v1", { n: null })],
        ["POST", path("v1beta1"), 201, gadget("v1beta1", { b: 4 })],
        ["POST", path("v1"), 422, { ...gadget("v1", {}), kind: "Other" }],
        ["POST", path("v1"), 400, gadget("v1beta1", {})],
        ["POST", path("v1"), 400, { metadata: { name: "x" } }],
      ]);
      const seen = async (name: string, object: string) =>
        (await world.request("GET", `${path(name)}/${object}`)).json.spec;
      assert.deepEqual(await seen("v1", "g"), { a: "x", n: null });
      assert.deepEqual(await seen("v1beta1", "g"), { a: "x" });
      assert.deepEqual(await seen("v1", "gbeta1"), { a: "x" });
      assert.match(
        await world.output(`get gadgets.v1beta1.${group}`),
        /v1beta1 Gadget is deprecated; use .*\/v1 Gadget/,
      );
      const storage = (index: number, value: boolean) => ({
        op: "replace",
        path: `/spec/versions/${index}/storage`,
        value,
      });
      await world.output([
        "patch",
        "crd",
        `gadgets.${group}`,
        "--type=json",
        "-p",
        JSON.stringify([storage(0, false), storage(1, true)]),
      ]);
      const stored = "jsonpath={.status.storedVersions}";
      assert.equal(await world.output(["get", "crd", `gadgets.${group}`, "-o", stored]), '["v1","v1beta1"]');
    },
  },
  {
    id: "crd-embedded",
    says: "an object inside a custom resource says what it is and has no unknown metadata",
    async run(world) {
      const { namespace } = world;
      const template = "free: { type: object, x-kubernetes-embedded-resource: true,";
      await world.output("apply -f -", widgetDefinition(namespace).replace("free: { type: object,", template));
      await world.output(`wait --for=condition=Established crd/widgets.${namespace}.example.com --timeout=10s`);
      const path = `/apis/${namespace}.example.com/v1/namespaces/${namespace}/widgets`;
      const widget = (free: object) => ({
        apiVersion: `${namespace}.example.com/v1`,
        kind: "Widget",
        metadata: { name: "w" },
        spec: { size: 1, free },
      });
      const metadata = { name: "x", bogus: 1 };
      await ask(world, [["POST", path, 422, widget({ spec: {} })]]);
      const body = widget({ apiVersion: "v1", kind: "Pod", metadata, spec: { any: 1 } });
      const { json } = await world.request("POST", path, { body });
      assert.deepEqual(json.spec.free, { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { any: 1 } });
      await ask(world, [["PATCH", `${path}/w`, 200, [{ op: "remove", path: "/spec/free" }], jsonPatch]]);
    },
  },
  {
    id: "reviews",
    says: "questions about access are answered, wrong questions refused",
    async run(world) {
      const api = "/apis/authorization.k8s.io/v1";
      const resourceAttributes = { verb: "get", resource: "pods", namespace: world.namespace };
      const local = `${api}/namespaces/${world.namespace}/localsubjectaccessreviews`;
      await ask(world, [
        ["POST", `${api}/selfsubjectaccessreviews`, 422, { spec: {} }],
        ["POST", `${api}/subjectaccessreviews`, 422, { spec: { resourceAttributes } }],
        ["POST", local, 422, { spec: { user: "a", resourceAttributes: { ...resourceAttributes, namespace: "x" } } }],
        ["POST", `${api}/selfsubjectrulesreviews`, 400, { spec: { namespace: "" } }],
        ["POST", `${world.core}/serviceaccounts/default/token`, 422, { spec: { expirationSeconds: 1 } }],
        ["POST", `${world.core}/serviceaccounts/nope/token`, 404, { spec: {} }],
      ]);
      const decision = async (path: string, spec: object) =>
        (await world.request("POST", `${api}/${path}`, { body: { spec } })).json.status.allowed;
      assert.equal(await decision("selfsubjectaccessreviews", { resourceAttributes }), true);
      assert.equal(await decision("subjectaccessreviews", { user: "alice", resourceAttributes }), false);
    },
  },
  {
    id: "sizes",
    says: "single fields have their limits, counted in bytes",
    async run(world) {
      const { core } = world;
      const secret = (bytes: number) => ({
        metadata: { name: "s" },
        data: { a: Buffer.alloc(bytes).toString("base64") },
      });
      const annotations = { a: "x".repeat(262_145) };
      const code = async (path: string, body: object) =>
        (await world.request("POST", `${core}/${path}?dryRun=All`, { body })).status;
      assert.equal(await code("configmaps", { metadata: { name: "c" }, data: { a: "x".repeat(1_048_577) } }), 422);
      assert.equal(await code("configmaps", { metadata: { name: "c", annotations } }), 422);
      assert.equal(await code("secrets", secret(1_048_577)), 422);
    },
  },
] satisfies Statement[];
