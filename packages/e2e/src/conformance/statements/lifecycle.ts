import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import { eventually, type World } from "../world.ts";
import { configMap, pod } from "./manifests.ts";

/** An owner and something it owns, both plain objects that no controller cares about. */
async function family({ request, core }: World): Promise<void> {
  const owner = await request("POST", `${core}/configmaps`, { body: { metadata: { name: "owner" } } });
  const { uid } = owner.json.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true }];
  await request("POST", `${core}/configmaps`, { body: { metadata: { name: "owned", ownerReferences } } });
}
const gone = ({ request, core }: World, path: string) =>
  eventually(async () => (await request("GET", `${core}/${path}`)).status === 404, `${path} is gone`);

export const lifecycleStatements = [
  {
    id: "finalizers",
    says: "an object with finalizers stays until the last is removed, and gets no new ones",
    async run({ output, refusal, request, core }) {
      await output("create -f -", configMap("c", "a: b", ", finalizers: [example.com/one]"));
      assert.equal(await output("delete cm c --wait=false"), 'configmap "c" deleted\n');
      const { json } = await request("GET", `${core}/configmaps/c`);
      assert.ok(json.metadata.deletionTimestamp);
      assert.equal(json.metadata.deletionGracePeriodSeconds, 0);
      assert.match(
        await refusal([
          "patch",
          "cm",
          "c",
          "--type=merge",
          "-p",
          '{"metadata":{"finalizers":["example.com/one","example.com/two"]}}',
        ]),
        /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example\.com\/two"\}/,
      );
      await output("delete cm c --wait=false");
      await output(["patch", "cm", "c", "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
      await refusal("get cm c");
    },
  },
  {
    id: "cascade-background",
    says: "deleting an owner deletes what it owns, a little later",
    async run(world) {
      await family(world);
      assert.equal(await world.output("delete cm owner"), 'configmap "owner" deleted\n');
      await gone(world, "configmaps/owned");
    },
  },
  {
    id: "cascade-foreground",
    says: "deleting in the foreground removes the owned before the owner",
    async run(world) {
      await family(world);
      const patch = '{"metadata":{"finalizers":["example.com/hold"]}}';
      await world.output(["patch", "cm", "owned", "--type=merge", "-p", patch]);
      await world.output("delete cm owner --cascade=foreground --wait=false");
      await eventually(async () => {
        const { json } = await world.request("GET", `${world.core}/configmaps/owned`);
        return json.metadata?.deletionTimestamp !== undefined;
      }, "the owned is being deleted");
      const { json } = await world.request("GET", `${world.core}/configmaps/owner`);
      assert.deepEqual(json.metadata.finalizers, ["foregroundDeletion"]);
      await world.output(["patch", "cm", "owned", "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
      await gone(world, "configmaps/owner");
    },
  },
  {
    id: "cascade-orphan",
    says: "deleting with orphans keeps what was owned, without its owner",
    async run(world) {
      await family(world);
      await world.output("delete cm owner --cascade=orphan");
      await gone(world, "configmaps/owner");
      const { json } = await world.request("GET", `${world.core}/configmaps/owned`);
      assert.equal(json.metadata.ownerReferences, undefined);
      assert.equal(json.metadata.deletionTimestamp, undefined);
    },
  },
  {
    id: "absent-owner",
    says: "what names an owner that does not exist is collected",
    async run(world) {
      const uid = "00000000-0000-4000-8000-000000000000";
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "never", uid }];
      const body = { metadata: { name: "orphan", ownerReferences } };
      await world.request("POST", `${world.core}/configmaps`, { body });
      await gone(world, "configmaps/orphan");
    },
  },
  {
    id: "preconditions",
    says: "a deletion that means another object is a conflict",
    async run({ request, core, output }) {
      await output("create cm c");
      const remove = (preconditions: object) =>
        request("DELETE", `${core}/configmaps/c`, { body: { kind: "DeleteOptions", apiVersion: "v1", preconditions } });
      const uid = await remove({ uid: "00000000-0000-4000-8000-000000000000" });
      assert.equal(uid.status, 409);
      assert.match(uid.json.message, /the UID in the precondition \(00000000-.*\) does not match the UID in record/);
      const version = await remove({ resourceVersion: "1" });
      assert.equal(version.status, 409);
      const wrong = await request("DELETE", `${core}/configmaps/c`, { body: { propagationPolicy: "Never" } });
      assert.equal(wrong.status, 422);
    },
  },
  {
    id: "delete-many",
    says: "a collection is deleted by selector",
    async run({ output }) {
      const labelled = (name: string, value: string) => configMap(name, "a: b", `, labels: {x: ${value}}`);
      await output("create -f -", labelled("a", "one") + labelled("b", "two") + labelled("c", "one"));
      assert.equal(await output("delete cm -l x=one"), 'configmap "a" deleted\nconfigmap "c" deleted\n');
      assert.equal(await output("get cm -l x -o name"), "configmap/b\n");
      await output(["delete", "--raw", "/api/v1/namespaces/delete-many/configmaps?labelSelector=x"]);
      assert.match(await output("get cm -l x"), /^No resources found/);
      assert.equal(await output("delete cm nope --ignore-not-found"), "");
    },
  },
  {
    id: "pod-deletion",
    says: "a pod that no node has goes at once; one that a node has waits for it",
    async run({ output, request, core }) {
      await output("create -f -", pod("free"));
      await output("delete pod free --wait=false");
      assert.equal((await request("GET", `${core}/pods/free`)).status, 404);
      await output("create -f -", pod("bound", "{nodeName: some-node, containers: [{name: a, image: x}]}"));
      await output("delete pod bound --wait=false --grace-period=7");
      const { json } = await request("GET", `${core}/pods/bound`);
      assert.equal(json.metadata.deletionGracePeriodSeconds, 7);
      assert.match(await output("get pods"), /bound +0\/1 +Terminating/);
      await output("delete pod bound --grace-period=0 --force");
      assert.equal((await request("GET", `${core}/pods/bound`)).status, 404);
    },
  },
  {
    id: "namespace-deletion",
    says: "a namespace that is deleted takes no more objects and goes when it is empty",
    async run({ output, refusal, request, core, namespace }) {
      await output("create -f -", configMap("c", "a: b", ", finalizers: [example.com/hold]"));
      await output("create secret generic s --from-literal=a=b");
      await output(`delete ns ${namespace} --wait=false`);
      assert.equal(
        await refusal("create cm late"),
        `error: failed to create configmap: configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated\n`,
      );
      await eventually(async () => (await request("GET", `${core}/secrets/s`)).status === 404, "the secret is gone");
      assert.match(await output(`get ns ${namespace}`), /Terminating/);
      const finalizers = ["patch", "cm", "c", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'];
      await output(finalizers);
      const path = `/api/v1/namespaces/${namespace}`;
      await eventually(async () => (await request("GET", path)).status === 404, "the namespace is gone");
    },
  },
  {
    id: "wait",
    says: "wait returns when an object is gone, a condition holds or a value is there, and gives up in time",
    async run({ output, refusal }) {
      await output("create -f -", pod("p"));
      const status = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}';
      await output(["patch", "pod", "p", "--subresource=status", "-p", status]);
      assert.equal(await output("wait pod p --for=condition=Ready --timeout=5s"), "pod/p condition met\n");
      assert.equal(
        await output(["wait", "pod", "p", "--for=jsonpath={.status.phase}=Running", "--timeout=5s"]),
        "pod/p condition met\n",
      );
      assert.equal(
        await refusal("wait pod p --for=condition=Nope --timeout=1s"),
        "error: timed out waiting for the condition on pods/p\n",
      );
      await output("delete pod p --wait=false");
      assert.equal(await output("wait pod p --for=delete --timeout=5s"), "");
    },
  },
] satisfies Statement[];
