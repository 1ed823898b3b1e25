import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import type { World } from "../world.ts";
import { widget, widgetDefinition } from "./manifests.ts";

async function define({ output, namespace }: World): Promise<void> {
  await output("apply -f -", widgetDefinition(namespace));
  await output(`wait --for=condition=Established crd/widgets.${namespace}.example.com --timeout=10s`);
}
const plural = ({ namespace }: World) => `widgets.${namespace}.example.com`;
const path = ({ namespace }: World) => `/apis/${namespace}.example.com/v1/namespaces/${namespace}/widgets`;

export const customResourceStatements = [
  {
    id: "crd-columns",
    says: "a custom resource prints the columns of its definition and is known to explain",
    async run(world) {
      const { output, namespace } = world;
      await define(world);
      await output("create -f -", widget(namespace, "w1", "size: 3"));
      const ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}';
      await output(["patch", plural(world), "w1", "--subresource=status", "--type=merge", "-p", ready]);
      assert.match(await output(`get ${plural(world)}`), /^NAME +SIZE +READY\nw1 +3 +True\n$/);
      assert.match(await output(`get ${plural(world)} -o wide`), /^NAME +SIZE +READY +COLOR\nw1 +3 +True +red\n$/);
      assert.match(
        await output(`explain widgets.spec.size --api-version=${namespace}.example.com/v1`),
        /FIELD: size <integer>[^]*How big it is/,
      );
      await output(`describe ${plural(world)} w1`);
      await output(`api-resources --api-group=${namespace}.example.com -o wide`);
      assert.match(await output(`get crd ${plural(world)}`), /NAME +CREATED AT\nwidgets/);
    },
  },
  {
    id: "crd-defaults",
    says: "a custom resource is pruned to its schema and filled with its defaults",
    async run(world) {
      const { request, namespace } = world;
      await define(world);
      const spec = {
        size: 3,
        bogus: 1,
        free: { any: { thing: [1] } },
        parts: [{ name: "a", extra: true }],
        port: "http",
      };
      const body = {
        apiVersion: `${namespace}.example.com/v1`,
        kind: "Widget",
        metadata: { name: "w" },
        spec,
        more: 1,
      };
      const { status, json } = await request("POST", `${path(world)}?fieldValidation=Ignore`, { body });
      assert.equal(status, 201);
      assert.deepEqual(json.spec, {
        color: "red",
        free: { any: { thing: [1] } },
        parts: [{ name: "a", weight: 1 }],
        port: "http",
        size: 3,
      });
      assert.equal(json.more, undefined);
      assert.equal(json.metadata.generation, 1);
      const warned = await request("POST", `${path(world)}?fieldValidation=Warn&dryRun=All`, {
        body: { ...body, metadata: { name: "w2" } },
      });
      assert.deepEqual(
        warned.headers["warning"],
        '299 - "unknown field \\"more\\"", 299 - "unknown field \\"spec.bogus\\"", 299 - "unknown field \\"spec.parts[0].extra\\""',
      );
    },
  },
  {
    id: "crd-validation",
    says: "a custom resource is validated by its schema and its rules, in the same words",
    async run(world) {
      const { refusal, output, namespace } = world;
      await define(world);
      const wrong = (spec: string) => refusal("create -f -", widget(namespace, "w2", spec));
      assert.match(
        await wrong("size: 30, color: blue"),
        /spec\.size: Invalid value: 30: spec\.size in body should be less than or equal to 10/,
      );
      assert.match(
        await wrong("size: 3, color: pink"),
        /spec\.color: Unsupported value: "pink": supported values: "red", "blue"/,
      );
      assert.match(await wrong("color: red"), /The Widget "w2" is invalid:[^]*spec\.size: Required value/);
      assert.match(await wrong("size: 1, bogus: 1"), /strict decoding error: unknown field "spec\.bogus"/);
      assert.match(await wrong("size: 9"), /spec: Invalid value: .*big widgets are blue/);
      await wrong("size: big");
      await wrong("size: 1.5");
      await wrong("size: 0, label: TOOLONG");
      await wrong("size: 1, label: Abc");
      await wrong("size: 1, parts: [{name: a}, {name: a}]");
      await wrong("size: 1, parts: [{name: a}, {name: b}, {name: c}]");
      await wrong("size: 1, parts: [{weight: 2}]");
      await wrong("size: 1, port: {a: b}");
      await wrong("size: 1, free: 7");
      await wrong("size: null");
      await output("create -f -", widget(namespace, "w2", "size: 9, color: blue"));
    },
  },
  {
    id: "crd-status-scale",
    says: "a custom resource has its status and its scale apart",
    async run(world) {
      const { output, refusal, namespace, request } = world;
      await define(world);
      await output("create -f -", widget(namespace, "w", "size: 3"));
      const patch = (body: string, ...more: string[]) => [
        "patch",
        plural(world),
        "w",
        "--type=merge",
        "-p",
        body,
        ...more,
      ];
      await output(patch('{"spec":{"size":4},"status":{"x":1}}'));
      const both = ["get", plural(world), "w", "-o", "jsonpath={.spec.size} {.status.x} {.metadata.generation}"];
      assert.equal(await output(both), "4  2");
      await output(patch('{"spec":{"size":5},"status":{"x":1}}', "--subresource=status"));
      assert.equal(await output(both), "4 1 2");
      assert.match(await output(`scale ${plural(world)} w --replicas=4`), /scaled\n$/);
      const scale = await request("GET", `${path(world)}/w/scale`);
      assert.deepEqual([scale.json.kind, scale.json.spec.replicas], ["Scale", 4]);
      const strategic = await refusal(["patch", plural(world), "w", "-p", "{}"]);
      assert.match(strategic, /application\/strategic-merge-patch\+json is not supported by/);
    },
  },
  {
    id: "crd-apply",
    says: "server-side apply merges a custom resource's keyed lists",
    async run(world) {
      const { output, refusal, namespace } = world;
      await define(world);
      const apply = (manager: string) => ["apply", "--server-side", `--field-manager=${manager}`, "-f", "-"];
      await output(apply("one"), widget(namespace, "w", "size: 3, parts: [{name: a, weight: 5}]"));
      await output(apply("two"), widget(namespace, "w", "size: 3, parts: [{name: b}]"));
      const parts = ["get", plural(world), "w", "-o", "jsonpath={.spec.parts}"];
      assert.equal(await output(parts), '[{"name":"a","weight":5},{"name":"b","weight":1}]');
      assert.match(
        await refusal(apply("two"), widget(namespace, "w", "size: 4, parts: [{name: a, weight: 6}]")),
        /Apply failed with 2 conflicts: conflicts with "one":\n- \.spec\.(size|parts\[name="a"\]\.weight)\n- \.spec\./,
      );
    },
  },
  {
    id: "crd-invalid",
    says: "a definition is checked before it serves anything",
    async run({ refusesAll, namespace }) {
      const crd = widgetDefinition(namespace);
      const wrong = (from: string, to: string) => crd.replace(from, to);
      await refusesAll("create -f -", [
        wrong("name: widgets.", "name: gadgets."),
        wrong("storage: true", "storage: false"),
        wrong("type: object\n        required", "x-nothing: 1\n        required"),
        wrong("minimum: 1,", "minimum: 1, default: 'a',"),
        wrong("self.size <", "self.sise <"),
        wrong("scope: Namespaced", "scope: Galaxy"),
      ]);
    },
  },
  {
    id: "crd-deletion",
    says: "a definition takes its objects with it",
    async run(world) {
      const { output, refusal, namespace, request } = world;
      await define(world);
      await output("create -f -", widget(namespace, "w", "size: 3"));
      assert.match(await output(`delete crd ${plural(world)} --timeout=20s`), /deleted\n/);
      assert.match(
        await refusal(`get ${plural(world)}`),
        /the server doesn't have a resource type "widgets"|could not find the requested resource/,
      );
      assert.equal((await request("GET", path(world))).status, 404);
    },
  },
] satisfies Statement[];
