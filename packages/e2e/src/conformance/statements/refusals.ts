import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import { configMap, pod } from "./manifests.ts";

export const refusalStatements = [
  {
    id: "invalid-pod",
    says: "what is wrong with a pod is named by its path",
    async run({ refusal }) {
      const wrong = (spec: string) => refusal("create -f -", pod("bad", spec));
      assert.equal(await wrong("{}"), 'The Pod "bad" is invalid: spec.containers: Required value\n');
      assert.equal(
        await wrong("{containers: [{name: a}]}"),
        'The Pod "bad" is invalid: spec.containers[0].image: Required value\n',
      );
    },
  },
  {
    id: "invalid-pod-more",
    says: "a pod whose parts contradict each other is refused",
    async run({ refusesAll }) {
      const specs = [
        "{containers: [{name: a, image: x}, {name: a, image: x}]}",
        "{containers: [{name: A_b, image: x, imagePullPolicy: Often}], restartPolicy: Perhaps}",
        "{containers: [{name: a, image: x, volumeMounts: [{name: v, mountPath: /v}]}]}",
        "{containers: [{name: a, image: x, ports: [{containerPort: 99999}]}]}",
        "{containers: [{name: a, image: x, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}",
        "{containers: [{name: a, image: x, resources: {requests: {cpu: lots}}}]}",
        "{serviceAccountName: nobody, containers: [{name: a, image: x}]}",
        "{containers: [{name: a, image: x, env: [{name: '1=2', value: x}]}]}",
      ];
      await refusesAll(
        "create -f -",
        specs.map((spec, index) => pod(`bad${index}`, spec)),
      );
    },
  },
  {
    id: "invalid-metadata",
    says: "names, labels and annotations have rules, told in the same words",
    async run({ refusal, refusesAll }) {
      const configMapWith = (metadata: string) => `---\n{apiVersion: v1, kind: ConfigMap, metadata: {${metadata}}}`;
      assert.match(
        await refusal("create --validate=false -f -", configMapWith("name: Bad_Name")),
        /metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case/,
      );
      await refusesAll("create --validate=false -f -", [
        configMapWith("name: a1, labels: {'-x': y}"),
        configMapWith("name: a2, labels: {x: 'y z'}"),
        configMapWith("name: a3, annotations: {'a/b/c': y}"),
        configMapWith("name: a4, finalizers: [nodomain]"),
        configMapWith("name: a5, ownerReferences: [{apiVersion: v1, kind: Pod, name: x}]"),
        configMapWith("labels: {a: b}"),
      ]);
    },
  },
  {
    id: "invalid-others",
    says: "services, secrets, roles and deployments are checked too",
    async run({ refusesAll }) {
      await refusesAll("create -f -", [
        `---\n{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}, {port: 81}]}}`,
        `---\n{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 0}]}}`,
        `---\n{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: '***'}}`,
        `---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {'a b': x}}`,
        `---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {containers: [{name: c, image: x}]}}}}`,
        `---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{verbs: [get]}]}`,
        `---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p}, spec: {accessModes: [Never]}}`,
      ]);
    },
  },
  {
    id: "strict-fields",
    says: "unknown and repeated fields are refused, warned of, or ignored, as asked",
    async run({ output, refusal, request, core }) {
      const wrong = pod("bad", "{containers: [{name: a, image: x, bogus: 1}], nope: 2}");
      assert.equal(
        await refusal("create -f -", wrong),
        'Error from server (BadRequest): error when creating "STDIN": Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containers[0].bogus", unknown field "spec.nope"\n',
      );
      assert.equal(
        await output("create --validate=warn --dry-run=server -f -", wrong),
        'pod/bad created (server dry run)\nWarning: unknown field "spec.containers[0].bogus"\nWarning: unknown field "spec.nope"\n',
      );
      assert.equal(
        await output("create --validate=ignore --dry-run=server -f -", wrong),
        "pod/bad created (server dry run)\n",
      );
      const twice = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"t"},"data":{"a":"1"},"data":{"b":"1"}}';
      const repeated = await request("POST", `${core}/configmaps?fieldValidation=Strict`, { body: twice });
      assert.equal(repeated.status, 400);
      assert.match(repeated.json.message, /strict decoding error: duplicate field "data"/);
    },
  },
  {
    id: "not-found",
    says: "what is not there is named in full",
    async run({ refusal }) {
      assert.equal(await refusal("get pod nope"), 'Error from server (NotFound): pods "nope" not found\n');
      assert.equal(
        await refusal("delete deploy nope"),
        'Error from server (NotFound): deployments.apps "nope" not found\n',
      );
      assert.equal(
        await refusal("-n nowhere create cm x"),
        'error: failed to create configmap: namespaces "nowhere" not found\n',
      );
      assert.equal(await refusal("get nope"), 'error: the server doesn\'t have a resource type "nope"\n');
      await refusal(["get", "--raw", "/api/v1/nope"]);
      await refusal(["get", "--raw", "/nope"]);
    },
  },
  {
    id: "exists",
    says: "creating twice is refused",
    async run({ output, refusal }) {
      await output("create cm c");
      assert.equal(await refusal("create cm c"), 'error: failed to create configmap: configmaps "c" already exists\n');
      assert.match(
        await refusal("create -f -", configMap("c", "a: b")),
        /^Error from server \(AlreadyExists\): error when creating "STDIN": configmaps "c" already exists\n$/,
      );
    },
  },
  {
    id: "malformed",
    says: "bodies that are no objects, or objects of another kind or name, are bad requests",
    async run({ request, output, core, namespace }) {
      await output("create cm c --from-literal=a=1");
      const post = (body: unknown, headers = {}) => request("POST", `${core}/configmaps`, { body, headers });
      const status = async (answer: ReturnType<typeof post>) => (await answer).status;
      assert.equal(await status(post('{"apiVersion":"v1",')), 400);
      assert.equal(await status(post("")), 400);
      assert.equal(await status(post("[]")), 400);
      assert.equal(await status(post("{}")), 422, "it has no name");
      assert.equal(await status(post({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" } })), 400);
      assert.equal(await status(post({ apiVersion: "v2", kind: "ConfigMap", metadata: { name: "x" } })), 400);
      assert.equal(await status(post({ metadata: { name: "x", namespace: "other" } })), 400);
      assert.equal(await status(post("a: b", { "Content-Type": "text/plain" })), 415);
      assert.equal(
        await status(post("kind: ConfigMap\nmetadata: {name: fine}\n", { "Content-Type": "application/yaml" })),
        201,
      );
      const put = (body: unknown) => request("PUT", `${core}/configmaps/c`, { body });
      assert.equal((await put({ metadata: { name: "d" } })).status, 400);
      assert.equal((await put({ metadata: { name: "c", namespace: "other" } })).status, 400);
      assert.equal((await put({ metadata: { name: "c", uid: "0" } })).status, 409);
      const absent = await request("PUT", `${core}/configmaps/absent`, { body: { metadata: { name: "absent" } } });
      assert.equal(absent.status, 404);
      assert.equal((await request("POST", `${core}/configmaps/c`, { body: {} })).status, 405);
      assert.equal((await request("DELETE", `/api/v1/namespaces/${namespace}/pods/none`)).status, 404);
      const accept = await request("GET", `${core}/configmaps/c`, { headers: { Accept: "text/html" } });
      assert.equal(accept.status, 406);
    },
  },
  {
    id: "immutable",
    says: "what cannot change is refused when it would",
    async run({ output, refusal }) {
      await output(
        "create -f -",
        "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, immutable: true, data: {a: b}}",
      );
      assert.match(
        await refusal(["patch", "cm", "c", "-p", '{"data":{"a":"c"}}']),
        /data: Forbidden: field is immutable when `immutable` is set/,
      );
      await output("create -f -", pod("p"));
      assert.match(
        await refusal(["patch", "pod", "p", "-p", '{"spec":{"nodeName":"n"}}']),
        /spec: Forbidden: pod updates may not change fields other than/,
      );
      await output("create secret generic s --from-literal=a=b");
      assert.match(
        await refusal(["patch", "secret", "s", "-p", '{"type":"x/y"}']),
        /type: Invalid value: .*field is immutable/,
      );
      await output("create role r --verb=get --resource=pods");
      await output("create rolebinding rb --role=r --user=u");
      assert.match(
        await refusal(["patch", "rolebinding", "rb", "-p", '{"roleRef":{"name":"other"}}']),
        /cannot change roleRef/,
      );
    },
  },
] satisfies Statement[];
