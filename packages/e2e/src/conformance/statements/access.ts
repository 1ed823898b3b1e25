import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import { eventually } from "../world.ts";

export const accessStatements = [
  {
    id: "can-i",
    says: "auth can-i answers by the roles that are bound",
    async run({ output, refusal }) {
      await output("create role reader --verb=get,list --resource=pods");
      await output("create rolebinding reader --role=reader --user=alice");
      assert.equal(await output("auth can-i list pods --as=alice"), "yes\n");
      assert.equal(await refusal("auth can-i delete pods --as=alice"), "no\n");
      assert.equal(await refusal("auth can-i list pods --as=bob"), "no\n");
      assert.equal(await output("auth can-i * *"), "yes\n");
      assert.match(await output("auth can-i --list --as=alice"), /pods +\[\] +\[\] +\[get list\]/);
      assert.match(
        await output("auth whoami --as=alice --as-group=staff"),
        /Username +alice\nGroups +\[staff system:authenticated\]/,
      );
    },
  },
  {
    id: "forbidden",
    says: "who may not is told what, by name, group and place",
    async run({ refusal, request, core }) {
      assert.equal(
        await refusal("delete pod x --as=alice"),
        'Error from server (Forbidden): pods "x" is forbidden: User "alice" cannot delete resource "pods" in API group "" in the namespace "forbidden"\n',
      );
      assert.equal(
        await refusal("get nodes --as=alice"),
        'Error from server (Forbidden): nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope\n',
      );
      await refusal("get deploy -A --as=alice");
      await refusal("scale deploy x --replicas=1 --as=alice");
      await refusal("create cm x --as=alice");
      await refusal(["get", "--raw", "/metrics", "--as=alice"]);
      const nobody = await request("GET", `${core}/pods`, { anonymous: true });
      assert.ok(nobody.status === 401 || nobody.status === 403, "strangers are unknown, or may nothing");
      const unknown = await request("GET", `${core}/pods`, {
        anonymous: true,
        headers: { Authorization: "Bearer nonsense" },
      });
      assert.equal(unknown.status, 401);
      assert.equal(unknown.json.message, "Unauthorized");
      const grab = await request("GET", `${core}/pods`, { anonymous: true, headers: { "Impersonate-User": "root" } });
      assert.ok(grab.status === 401 || grab.status === 403);
    },
  },
  {
    id: "escalation",
    says: "nobody gives away more than he has",
    async run({ output, refusal }) {
      await output("create role granter --verb=create,update,patch,get --resource=roles,rolebindings");
      await output("create rolebinding granter --role=granter --user=alice");
      assert.match(
        await refusal("create role big --verb=delete --resource=secrets --as=alice"),
        /user "alice" \(groups=\["system:authenticated"\]\) is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["secrets"\], Verbs:\["delete"\]\}/,
      );
      await refusal("create rolebinding big --clusterrole=cluster-admin --user=alice --as=alice");
      await output("create role small --verb=get --resource=roles --as=alice");
    },
  },
  {
    id: "service-accounts",
    says: "a service account's token opens what is bound to it, and nothing else",
    async run({ output, request, core, namespace }) {
      await output("create sa robot");
      const token = (await output("create token robot --duration=1h")).trim();
      const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
      assert.equal(claims.sub, `system:serviceaccount:${namespace}:robot`);
      assert.equal(claims["kubernetes.io"].serviceaccount.name, "robot");
      const headers = { Authorization: `Bearer ${token}` };
      const ask = () => request("GET", `${core}/configmaps`, { anonymous: true, headers });
      const refused = await ask();
      assert.equal(refused.status, 403);
      assert.match(refused.json.message, new RegExp(`User "system:serviceaccount:${namespace}:robot" cannot list`));
      await output(`create rolebinding robot --clusterrole=view --serviceaccount=${namespace}:robot`);
      await eventually(async () => (await ask()).status === 200, "the binding counts");
      assert.equal((await request("GET", `${core}/secrets`, { anonymous: true, headers })).status, 403);
      await output("delete sa robot");
      await eventually(async () => (await ask()).status === 401, "a token ends with its account", 30_000);
    },
  },
] satisfies Statement[];
