import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import type { World } from "../world.ts";
import { deployment } from "./manifests.ts";

const patch = (type: string, body: string, ...more: string[]) => [
  "patch",
  "deploy",
  "web",
  `--type=${type}`,
  "-p",
  body,
  ...more,
];
const names = ["get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[*].name}"];
const createWeb = ({ output }: World) => output("create -f -", deployment(1));

export const patchStatements = [
  {
    id: "patch-strategic",
    says: "a strategic patch merges keyed lists, and its directives delete and replace",
    async run(world) {
      const { output } = world;
      await createWeb(world);
      const container = (value: string) => `{"spec":{"template":{"spec":{"containers":[${value}]}}}}`;
      assert.equal(
        await output(patch("strategic", container('{"name":"side","image":"x"}'))),
        "deployment.apps/web patched\n",
      );
      assert.equal(await output(names), "side c");
      await output(patch("strategic", container('{"name":"c","image":"other"}')));
      const image = ["get", "deploy", "web", "-o", 'jsonpath={.spec.template.spec.containers[?(@.name=="c")].image}'];
      assert.equal(await output(image), "other");
      await output(patch("strategic", container('{"name":"side","$patch":"delete"}')));
      assert.equal(await output(names), "c");
      await output(patch("strategic", container('{"name":"only","image":"x"},{"$patch":"replace"}')));
      assert.equal(await output(names), "only");
      assert.equal(
        await output(patch("strategic", '{"spec":{"replicas":1}}')),
        "deployment.apps/web patched (no change)\n",
      );
    },
  },
  {
    id: "patch-json",
    says: "a JSON patch adds, replaces, moves and removes, all or nothing",
    async run(world) {
      const { output, refusal } = world;
      await createWeb(world);
      await output(patch("json", '[{"op":"add","path":"/metadata/labels","value":{"a":"1","b/c":"2"}}]'));
      const moves =
        '{"op":"test","path":"/metadata/labels/a","value":"1"},{"op":"move","from":"/metadata/labels/b~1c","path":"/metadata/labels/d"}';
      await output(patch("json", `[${moves},{"op":"remove","path":"/metadata/labels/a"}]`));
      const labels = ["get", "deploy", "web", "-o", "jsonpath={.metadata.labels}"];
      assert.equal(await output(labels), '{"d":"2"}');
      assert.match(
        await refusal(
          patch("json", '[{"op":"replace","path":"/spec/replicas","value":9},{"op":"remove","path":"/spec/nope"}]'),
        ),
        /The request is invalid: the server rejected our request due to an error in our request|"\/spec\/nope"/,
      );
      assert.equal(await output(["get", "deploy", "web", "-o", "jsonpath={.spec.replicas}"]), "1");
      await refusal(patch("json", '[{"op":"test","path":"/spec/replicas","value":5}]'));
      await refusal(patch("json", '{"op":"test"}'));
    },
  },
  {
    id: "patch-merge",
    says: "a merge patch sets, removes with null, and replaces lists whole",
    async run(world) {
      const { output } = world;
      await createWeb(world);
      await output(patch("merge", '{"metadata":{"annotations":{"note":"hello","other":"x"}}}'));
      await output(patch("merge", '{"metadata":{"annotations":{"other":null}}}'));
      assert.equal(
        await output(["get", "deploy", "web", "-o", "jsonpath={.metadata.annotations}"]),
        '{"note":"hello"}',
      );
      await output(patch("merge", '{"spec":{"template":{"spec":{"containers":[{"name":"z","image":"z"}]}}}}'));
      assert.equal(await output(names), "z");
    },
  },
  {
    id: "patch-refused",
    says: "a patch that makes a wrong object is refused with the reason",
    async run(world) {
      const { refusal, request } = world;
      await createWeb(world);
      assert.match(
        await refusal(patch("merge", '{"spec":{"replicas":"x"}}')),
        /cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32/,
      );
      assert.match(
        await refusal(patch("merge", '{"spec":{"selector":{"matchLabels":{"app":"b"}}}}')),
        /spec\.selector: Invalid value: .*field is immutable/,
      );
      assert.match(
        await refusal(patch("merge", '{"spec":{"replicas":-1}}')),
        /spec\.replicas: Invalid value: -1: must be/,
      );
      await refusal(patch("merge", '{"metadata":{"name":"other"}}'));
      await refusal(patch("merge", '{"metadata":{"resourceVersion":"1"}}'));
      await refusal(patch("merge", '{"metadata":{"uid":"1"}}'));
      await refusal(["patch", "deploy", "nope", "-p", "{}"]);
      const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments/web`;
      const unknown = await request("PATCH", path, { body: "{}", headers: { "Content-Type": "application/json" } });
      assert.equal(unknown.status, 415);
    },
  },
  {
    id: "patch-status",
    says: "the status has a door of its own: neither side changes the other",
    async run(world) {
      const { output } = world;
      await createWeb(world);
      await output(patch("merge", '{"spec":{"replicas":4},"status":{"replicas":3}}'));
      const both = [
        "get",
        "deploy",
        "web",
        "-o",
        "jsonpath={.spec.replicas} {.status.replicas} {.metadata.generation}",
      ];
      assert.equal(await output(both), "4  2");
      await output(patch("merge", '{"spec":{"replicas":9},"status":{"replicas":3}}', "--subresource=status"));
      assert.equal(await output(both), "4 3 2");
    },
  },
] satisfies Statement[];
