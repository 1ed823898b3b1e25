import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { hasKubectl, startTestServer, type TestServer } from "./testing/test-server.ts";

const deployment = (replicas: number, extra = "") => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      ${extra}
      containers:
      - { name: c, image: nginx, ports: [{ containerPort: 80 }] }
`;

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget, shortNames: [wd] }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {}, scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas } }
    additionalPrinterColumns:
    - { name: Size, type: integer, jsonPath: .spec.size }
    - { name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status' }
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: { type: integer, minimum: 1, maximum: 10, description: How big it is }
              color: { type: string, enum: [red, blue], default: red }
              replicas: { type: integer }
          status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;
const widget = (spec: string, name = "w1") =>
  `---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: ${name}}, spec: {${spec}}}`;

describe.skipIf(!hasKubectl)("kubectl", () => {
  let test: TestServer;
  const kubectl = (args: readonly string[] | string, input?: string) => test.kubectl(args, input);
  const output = async (args: readonly string[] | string, input?: string) => (await kubectl(args, input)).output;

  beforeAll(async () => {
    test = await startTestServer();
  });
  afterAll(() => test.stop());

  it("shows the namespaces that every cluster has", async () => {
    expect(await output("get namespaces -o name")).toBe(
      "namespace/default\nnamespace/kube-node-lease\nnamespace/kube-public\nnamespace/kube-system\n",
    );
  });

  it("lists resources and explains them", async () => {
    expect(await output("api-resources --api-group=apps")).toMatch(/deployments +deploy +apps\/v1 +true +Deployment/);
    expect(await output("explain pod.spec.containers.ports.containerPort")).toMatch(/FIELD: containerPort <integer>/);
  });

  describe("with a deployment", () => {
    it("creates it", async () => {
      expect(await output("apply -f -", deployment(2))).toBe("deployment.apps/web created\n");
    });

    it("applies again without a change, and with one", async () => {
      expect(await output("apply -f -", deployment(2))).toBe("deployment.apps/web unchanged\n");
      expect(await output("apply -f -", deployment(3))).toBe("deployment.apps/web configured\n");
      expect(await output(["get", "deploy", "web", "-o", "jsonpath={.spec.replicas} {.metadata.generation}"])).toBe(
        "3 2",
      );
    });

    it("prints columns, wide columns and YAML with defaults", async () => {
      expect(await output("get deploy -o wide")).toMatch(
        /NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +0\/\d/,
      );
      expect(await output("get deploy web -o yaml")).toMatch(/terminationGracePeriodSeconds: 30/);
      expect(await output("describe deploy web")).toMatch(/RollingUpdateStrategy: +25% max unavailable, 25% max surge/);
    });

    it("shows what an apply would change", async () => {
      const { code, output: text } = await kubectl("diff -f -", deployment(7));
      expect(code).toBe(1);
      expect(text).toMatch(/\+ +replicas: 7/);
      expect(text).not.toMatch(/\+ +image/);
    });

    it("patches in each way", async () => {
      const patch = (type: string, body: string) => kubectl(["patch", "deploy", "web", `--type=${type}`, "-p", body]);
      await patch("strategic", '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"x"}]}}}}');
      const names = ["get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[*].name}"];
      expect(await output(names)).toBe("side c");
      await patch("json", '[{"op":"remove","path":"/spec/template/spec/containers/0"}]');
      expect(await output(names)).toBe("c");
      await patch("merge", '{"metadata":{"annotations":{"note":"hello"}}}');
      expect(await output(["get", "deploy", "web", "-o", "jsonpath={.metadata.annotations.note}"])).toBe("hello");
    });

    it("refuses wrong patches with a reason", async () => {
      const patch = (type: string, body: string) => output(["patch", "deploy", "web", `--type=${type}`, "-p", body]);
      expect(await patch("json", '[{"op":"remove","path":"/spec/nope"}]')).toMatch(/"\/spec\/nope" does not exist/);
      expect(await patch("merge", '{"spec":{"replicas":"x"}}')).toMatch(
        /cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32/,
      );
      expect(await patch("merge", '{"spec":{"selector":{"matchLabels":{"app":"b"}}}}')).toMatch(
        /spec.selector: Invalid value: .*field is immutable/,
      );
    });

    it("scales, and tells server-side apply who owns the number", async () => {
      await kubectl("scale deploy web --replicas=5");
      const refused = await kubectl("apply --server-side -f -", deployment(2));
      expect(refused.output).toMatch(
        /Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps\/v1: .spec.replicas/,
      );
      const forced = await kubectl("apply --server-side --force-conflicts -f -", deployment(2));
      expect(forced.output).toBe("deployment.apps/web serverside-applied\n");
      expect(await output(["get", "deploy", "web", "-o", "jsonpath={.spec.replicas}"])).toBe("2");
    });

    it("removes what server-side apply no longer names", async () => {
      const withSelector = deployment(2, "nodeSelector: { disk: ssd }");
      await kubectl("apply --server-side --force-conflicts -f -", withSelector);
      expect(await output(["get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.nodeSelector}"])).toBe(
        '{"disk":"ssd"}',
      );
      await kubectl("apply --server-side --force-conflicts -f -", deployment(2));
      expect(await output(["get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.nodeSelector}"])).toBe("");
    });
  });

  it("says what is wrong with an object", async () => {
    const pod = (spec: string) => `---\n{apiVersion: v1, kind: Pod, metadata: {name: bad}, spec: ${spec}}`;
    expect(await output("create -f -", pod("{}"))).toBe('The Pod "bad" is invalid: spec.containers: Required value\n');
    expect(await output("create -f -", pod("{containers: [{name: a}]}"))).toBe(
      'The Pod "bad" is invalid: spec.containers[0].image: Required value\n',
    );
    expect(await output("create -f -", pod("{containers: [{name: a, image: x, bogus: 1}]}"))).toMatch(
      /strict decoding error: unknown field "spec.containers\[0\].bogus"/,
    );
    expect(
      await output(
        "create --validate=warn --dry-run=server -f -",
        pod("{containers: [{name: a, image: x, bogus: 1}]}"),
      ),
    ).toMatch(/^Warning: unknown field "spec.containers\[0\].bogus"\npod\/bad created \(server dry run\)\n$/);
    expect(await output("create -f -", "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: Bad_Name}}")).toMatch(
      /metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of/,
    );
    expect(await output("get pod nope")).toBe('Error from server (NotFound): pods "nope" not found\n');
    expect(await output("-n nowhere create cm x")).toBe(
      'error: failed to create configmap: namespaces "nowhere" not found\n',
    );
  });

  it("reports a conflict when an object changed meanwhile", async () => {
    await kubectl("create cm conflict --from-literal=a=1");
    const old = await output("get cm conflict -o yaml");
    await kubectl(["patch", "cm", "conflict", "-p", '{"data":{"a":"2"}}']);
    expect(await output("replace -f -", old)).toMatch(
      /Operation cannot be fulfilled on configmaps "conflict": the object has been modified; please apply your changes to the latest version and try again/,
    );
  });

  describe("with a custom resource", () => {
    it("is served as soon as it is established", async () => {
      expect(await output("apply -f -", crd)).toBe(
        "customresourcedefinition.apiextensions.k8s.io/widgets.example.com created\n",
      );
      expect(await output("wait --for=condition=Established crd/widgets.example.com --timeout=10s")).toMatch(
        /condition met/,
      );
      expect(await output("apply -f -", widget("size: 3"))).toBe("widget.example.com/w1 created\n");
    });

    it("fills in defaults and prints its columns", async () => {
      expect(await output(["get", "wd", "w1", "-o", "jsonpath={.spec.color}"])).toBe("red");
      await kubectl([
        "patch",
        "wd",
        "w1",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}',
      ]);
      expect(await output("get wd")).toMatch(/NAME +SIZE +READY\nw1 +3 +True\n/);
    });

    it("validates by its schema", async () => {
      expect(await output("create -f -", widget("size: 30", "w2"))).toMatch(
        /spec.size: Invalid value: 30: spec.size in body should be less than or equal to 10/,
      );
      expect(await output("create -f -", widget("size: 3, color: pink", "w2"))).toMatch(
        /spec.color: Unsupported value: "pink": supported values: "red", "blue"/,
      );
      expect(await output("create -f -", widget("color: red", "w2"))).toMatch(
        /The Widget "w2" is invalid: spec.size: Required value/,
      );
      expect(await output("create -f -", widget("size: 1, bogus: 1", "w2"))).toMatch(
        /strict decoding error: unknown field "spec.bogus"/,
      );
    });

    it("keeps specification and status apart", async () => {
      await kubectl(["patch", "wd", "w1", "--type=merge", "-p", '{"spec":{"size":4},"status":{"x":1}}']);
      expect(await output(["get", "wd", "w1", "-o", "jsonpath={.spec.size} {.status.x}"])).toBe("4 ");
      await kubectl([
        "patch",
        "wd",
        "w1",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"spec":{"size":9},"status":{"x":1}}',
      ]);
      expect(await output(["get", "wd", "w1", "-o", "jsonpath={.spec.size} {.status.x}"])).toBe("4 1");
    });

    it("scales and explains", async () => {
      expect(await output("scale wd w1 --replicas=4")).toBe("widget.example.com/w1 scaled\n");
      expect(await output("explain widget.spec.size")).toMatch(/How big it is/);
    });

    it("is gone with its definition, objects included", async () => {
      expect(await output("delete crd widgets.example.com --timeout=20s")).toMatch(/deleted/);
      expect(await output("get wd")).toMatch(
        /the server doesn't have a resource type "wd"|could not find the requested resource/,
      );
    });
  });

  it("answers who may do what", async () => {
    await kubectl("create role reader --verb=get,list --resource=pods");
    await kubectl("create rolebinding reader --role=reader --user=alice");
    expect((await kubectl("auth can-i list pods --as=alice")).output).toBe("yes\n");
    expect((await kubectl("auth can-i delete pods --as=alice")).output).toBe("no\n");
    expect(await output("delete pod x --as=alice")).toBe(
      'Error from server (Forbidden): pods "x" is forbidden: User "alice" cannot delete resource "pods" in API group "" in the namespace "default"\n',
    );
    expect(await output("get nodes --as=alice")).toMatch(
      /nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope/,
    );
  });

  it("watches until an object changes", async () => {
    await kubectl("create cm watched");
    const watching = kubectl(["get", "cm", "watched", "-o", "jsonpath={.data.a}{'\\n'}", "-w", "--request-timeout=3s"]);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await kubectl(["patch", "cm", "watched", "-p", '{"data":{"a":"seen"}}']);
    expect((await watching).output).toMatch(/^\nseen\n/);
  });

  it("prints events about an object", async () => {
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e1", namespace: "default" },
      involvedObject: { apiVersion: "v1", kind: "ConfigMap", name: "watched", namespace: "default" },
      reason: "Tested",
      message: "it was looked at",
      type: "Normal",
      lastTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
    };
    await kubectl("create -f -", JSON.stringify(event));
    expect(await output("get events")).toMatch(/Normal +Tested +configmap\/watched +it was looked at/);
    expect(await output("events --for configmap/watched")).toMatch(/Tested/);
  });
});
