import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import type { World } from "../world.ts";

const create = async ({ request, core }: World, name: string, labels?: object): Promise<string> => {
  const { json } = await request("POST", `${core}/configmaps`, {
    body: { metadata: { name, labels }, data: { n: "0" } },
  });
  return json.metadata.resourceVersion;
};
const set = async ({ request, core }: World, name: string, patch: object): Promise<string> => {
  const headers = { "Content-Type": "application/merge-patch+json" };
  const { json } = await request("PATCH", `${core}/configmaps/${name}`, { body: patch, headers });
  return json.metadata.resourceVersion;
};

export const watchStatements = [
  {
    id: "watch",
    says: "a watch from a version tells every later change once and in order",
    async run(world) {
      const { watch, request, core } = world;
      const from = await create(world, "a");
      const changed = await set(world, "a", { data: { n: "1" } });
      const stream = await watch(`${core}/configmaps?watch=true&resourceVersion=${from}`);
      await create(world, "b");
      await request("DELETE", `${core}/configmaps/a`);
      const seen = [await stream.next(), await stream.next(), await stream.next()];
      stream.close();
      assert.deepEqual(
        seen.map(({ type, object }) => `${type} ${object.metadata.name}`),
        ["MODIFIED a", "ADDED b", "DELETED a"],
      );
      assert.equal(seen[0]?.object.metadata.resourceVersion, changed);
      const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
      assert.deepEqual(
        versions,
        versions.toSorted((a, b) => a - b),
        "a deletion carries its own version",
      );
      assert.equal(seen[2]?.object.data.n, "1", "a deletion carries the last state");
    },
  },
  {
    id: "watch-selector",
    says: "an object that leaves or enters a selection is deleted or added there",
    async run(world) {
      const { watch, core } = world;
      const from = await create(world, "a", { x: "1" });
      const stream = await watch(`${core}/configmaps?watch=true&resourceVersion=${from}&labelSelector=x%3D1`);
      await set(world, "a", { metadata: { labels: { x: "2" } } });
      await set(world, "a", { data: { n: "unseen" } });
      await set(world, "a", { metadata: { labels: { x: "1" } } });
      const [left, entered] = [await stream.next(), await stream.next()];
      stream.close();
      assert.deepEqual([left.type, left.object.metadata.labels.x], ["DELETED", "1"]);
      assert.deepEqual([entered.type, entered.object.metadata.labels.x], ["ADDED", "1"]);
    },
  },
  {
    id: "watch-initial",
    says: "a watch without a version begins with what is there; it ends when its time is over",
    async run(world) {
      await create(world, "a");
      const stream = await world.watch(`${world.core}/configmaps?watch=true&timeoutSeconds=1`);
      const events = await stream.rest();
      assert.deepEqual(events.map(({ type, object }) => `${type} ${object.metadata.name}`).toSorted(), [
        "ADDED a",
        "ADDED kube-root-ca.crt",
      ]);
    },
  },
  {
    id: "watch-list",
    says: "a watch that asks for the initial events gets them and then a bookmark that says so",
    async run(world) {
      const made = Number(await create(world, "a"));
      const wrong = await world.request("GET", `${world.core}/configmaps?watch=true&sendInitialEvents=true`);
      assert.equal(wrong.status, 422);
      const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
      const stream = await world.watch(
        `${world.core}/configmaps?${query}&resourceVersion=${made}&fieldSelector=metadata.name%3Da`,
      );
      const added = await stream.next();
      // Kubernetes refuses this on an etcd that is older than 3.4.25; then there is nothing to compare.
      if (added.type === "ERROR" && String(added.object.message).includes("RequestWatchProgress")) return;
      assert.equal(`${added.type} ${added.object.metadata.name}`, "ADDED a", JSON.stringify(added));
      const { type, object } = await stream.next();
      stream.close();
      assert.equal(type, "BOOKMARK");
      assert.equal(object.metadata.annotations["k8s.io/initial-events-end"], "true");
      assert.ok(Number(object.metadata.resourceVersion) >= made);
      assert.deepEqual([object.kind, object.apiVersion], ["ConfigMap", "v1"]);
    },
  },
  {
    id: "watch-too-old",
    says: "a watch from long ago gets every change since, or 410; never a gap",
    async run(world) {
      await create(world, "a");
      await create(world, "b");
      const query = "watch=true&resourceVersion=1&timeoutSeconds=1&fieldSelector=metadata.name!%3Dkube-root-ca.crt";
      const events = await (await world.watch(`${world.core}/configmaps?${query}`)).rest();
      const [first] = events;
      if (first?.type === "ERROR") {
        assert.deepEqual([first.object.code, first.object.reason], [410, "Expired"]);
        assert.match(first.object.message, /^too old resource version: 1 \(\d+\)$/);
      } else {
        assert.deepEqual(
          events.map(({ object }) => object.metadata.name),
          ["a", "b"],
        );
      }
    },
  },
  {
    id: "watch-one",
    says: "a single object can be watched by its name",
    async run(world) {
      const from = await create(world, "a");
      await create(world, "b");
      await set(world, "a", { data: { n: "1" } });
      const query = `watch=true&resourceVersion=${from}&timeoutSeconds=1&fieldSelector=metadata.name%3Da`;
      const events = await (await world.watch(`${world.core}/configmaps?${query}`)).rest();
      assert.deepEqual(
        events.map(({ type, object }) => `${type} ${object.metadata.name}`),
        ["MODIFIED a"],
      );
    },
  },
] satisfies Statement[];
