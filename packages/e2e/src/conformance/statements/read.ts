import assert from "node:assert/strict";
import type { Statement } from "../statement.ts";
import type { World } from "../world.ts";
import { configMap, deployment, pod } from "./manifests.ts";

const makeNumbered = async ({ output }: World, count: number): Promise<void> => {
  const manifests = Array.from({ length: count }, (_, index) =>
    configMap(`n${index}`, `i: '${index}'`, `, labels: {parity: ${index % 2 === 0 ? "even" : "odd"}}`),
  );
  await output("create -f -", manifests.join(""));
};

export const readStatements = [
  {
    id: "get-columns",
    says: "get prints the columns of each kind, and more with -o wide",
    async run({ output }) {
      await output("create -f -", deployment(2));
      await output("create -f -", pod("p"));
      await output("create svc clusterip s --tcp=80:8080");
      assert.match(await output("get deploy"), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/2 +0 +0 +\d+s\n$/);
      assert.match(
        await output("get deploy -o wide"),
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +0\/2 .* c +nginx +app=web\n$/,
      );
      assert.match(await output("get pods"), /^NAME +READY +STATUS +RESTARTS +AGE\np +0\/1 +Pending +0 +\d+s\n$/);
      await output("get pods -o wide --show-labels");
      assert.match(await output("get svc"), /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE\ns +ClusterIP/);
      await output("get pods -L app");
      await output("get deploy,pods -o name");
    },
  },
  {
    id: "get-more-columns",
    says: "kinds without a workload print their columns too",
    async run({ output, kubectl }) {
      await output("create sa robot");
      await output("create secret generic s --from-literal=a=b");
      await output("create role r --verb=get --resource=pods");
      await output("create rolebinding rb --role=r --serviceaccount=default:x");
      await output("create quota q --hard=pods=1").catch(() => undefined);
      await output("create pdb b --selector=a=b --min-available=1");
      for (const kind of ["sa", "secret", "role", "rolebinding", "pdb"]) await output(`get ${kind} -o wide`);
      await kubectl("get lease,pvc,ds,rs,controllerrevision -o wide");
      const pvc = `---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`;
      await output("create -f -", pvc);
      await output("get pvc");
      await output("describe pvc v");
    },
  },
  {
    id: "get-all",
    says: "get all prints every kind of the category, in the same order; a cluster begins with four namespaces",
    async run({ output }) {
      await output("create -f -", deployment(2));
      await output("create -f -", pod("p"));
      await output("create svc clusterip s --tcp=80:8080");
      await output(["get", "all", "-o", "name"]);
      const begun = ["default", "kube-node-lease", "kube-public", "kube-system"];
      assert.equal(
        await output(["get", "ns", ...begun, "-o", "name"]),
        begun.map((name) => `namespace/${name}\n`).join(""),
      );
      assert.match(await output("get deploy web --subresource=scale"), /^NAME +DESIRED +AVAILABLE +AGE\nweb +2 +0 /);
      assert.match(await output("get deploy web --subresource=status"), /^NAME +READY/);
    },
  },
  {
    id: "rollout",
    says: "label, annotate, set, expose, scale and rollout write what they say",
    async run({ output, refusal }) {
      await output("create deploy web --image=nginx --replicas=2");
      assert.equal(await output("label deploy web a=b"), "deployment.apps/web labeled\n");
      assert.equal(
        await refusal("label deploy web a=c"),
        "error: 'a' already has a value (b), and --overwrite is false\n",
      );
      assert.equal(await output("label deploy web a-"), "deployment.apps/web unlabeled\n");
      assert.equal(await output("annotate deploy web note=x"), "deployment.apps/web annotated\n");
      assert.equal(await output("set image deploy/web nginx=nginx:2"), "deployment.apps/web image updated\n");
      assert.equal(await output("set env deploy/web A=B"), "deployment.apps/web env updated\n");
      assert.equal(await output("expose deploy web --port=80"), "service/web exposed\n");
      assert.equal(await output("rollout pause deploy web"), "deployment.apps/web paused\n");
      assert.equal(await output("rollout resume deploy web"), "deployment.apps/web resumed\n");
      assert.match(await output("rollout history deploy web"), /No rollout history found/);
      assert.match(
        await refusal("scale deploy web --replicas=1 --current-replicas=9"),
        /Expected replicas to be 9, was 2/,
      );
      assert.equal(await output("scale deploy web --replicas=1"), "deployment.apps/web scaled\n");
      const generation = ["get", "deploy", "web", "-o", "jsonpath={.metadata.generation} {.spec.replicas}"];
      assert.equal(await output(generation), "7 1");
    },
  },
  {
    id: "get-formats",
    says: "get prints YAML, JSON paths, templates and names",
    async run({ output }) {
      await output("create -f -", pod("p"));
      assert.match(await output("get pod p -o yaml"), /\n {2}dnsPolicy: ClusterFirst\n {2}enableServiceLinks: true\n/);
      assert.equal(await output(["get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}"]), "x");
      assert.equal(await output(["get", "pod", "p", "-o", "go-template={{.metadata.name}}"]), "p");
      assert.match(await output(["get", "pods", "-o", "custom-columns=N:.metadata.name"]), /^N\np\n$/);
    },
  },
  {
    id: "selectors",
    says: "lists are narrowed by labels and fields, and wrong selectors are refused",
    async run(world) {
      const { output, refusal } = world;
      await makeNumbered(world, 4);
      const select = async (selector: string) => output(["get", "cm", "-o", "name", ...selector.split(" ")]);
      assert.equal(await select("-l parity=even"), "configmap/n0\nconfigmap/n2\n");
      assert.equal(await select("-l parity!=even,parity"), "configmap/n1\nconfigmap/n3\n");
      assert.equal(
        await output(["get", "cm", "-o", "name", "-l", "parity in (odd, even)"]),
        "configmap/n0\nconfigmap/n1\nconfigmap/n2\nconfigmap/n3\n",
      );
      assert.equal(await select("-l !parity"), "configmap/kube-root-ca.crt\n");
      assert.equal(await select("--field-selector metadata.name=n3"), "configmap/n3\n");
      assert.equal(await select("-l parity=none"), "");
      assert.match(
        await refusal("get cm --field-selector data.i=1"),
        /"data\.i" is not a known field selector: only "metadata\.name", "metadata\.namespace"/,
      );
      await refusal("get cm -l a=b=c");
      await refusal("get pods --field-selector spec.hostname=x");
      assert.match(await output("get pods -l a=b"), /^No resources found in selectors namespace\.\n$/);
    },
  },
  {
    id: "paging",
    says: "a list comes in pages that together hold everything once, at one version",
    async run(world) {
      const { request, core } = world;
      await makeNumbered(world, 7);
      const seen: string[] = [];
      const versions = new Set<string>();
      let token = "";
      do {
        const query = `limit=3&labelSelector=parity${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`;
        const { json } = await request("GET", `${core}/configmaps?${query}`);
        seen.push(...json.items.map((item: { metadata: { name: string } }) => item.metadata.name));
        versions.add(json.metadata.resourceVersion);
        token = json.metadata.continue ?? "";
        if (seen.length === 3) {
          await request("POST", `${core}/configmaps`, {
            body: { metadata: { name: "n55", labels: { parity: "odd" } } },
          });
          // With a selector the server does not count what is left.
          assert.equal(json.metadata.remainingItemCount, undefined);
        }
      } while (token !== "");
      assert.deepEqual(seen, ["n0", "n1", "n2", "n3", "n4", "n5", "n6"], "the newcomer is in no page");
      assert.equal(versions.size, 1);
      const plain = await request("GET", `${core}/configmaps?limit=3`);
      assert.equal(plain.json.metadata.remainingItemCount, 6);
      const wrong = await request("GET", `${core}/configmaps?limit=3&continue=nonsense`);
      assert.equal(wrong.status, 400);
    },
  },
  {
    id: "list-versions",
    says: "a list at a version that is not there yet waits and then says so; a wrong version is refused",
    async run({ request, core }) {
      const future = await request("GET", `${core}/configmaps?resourceVersion=99999999&timeoutSeconds=1`);
      assert.equal(future.status, 504);
      assert.equal(future.json.reason, "Timeout");
      assert.match(future.json.message, /Too large resource version/);
      const wrong = await request("GET", `${core}/configmaps?resourceVersion=abc`);
      assert.equal(wrong.status, 400);
      const exact = await request("GET", `${core}/configmaps?resourceVersionMatch=Exact`);
      assert.equal(exact.status, 422);
      assert.equal((await request("GET", `${core}/configmaps?resourceVersion=0`)).status, 200);
    },
  },
  {
    id: "tables",
    says: "the server prints tables itself, also in a watch",
    async run({ request, output, core }) {
      await output("create cm c --from-literal=a=1");
      const Accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
      const { json } = await request("GET", `${core}/configmaps/c`, { headers: { Accept } });
      assert.equal(json.kind, "Table");
      assert.deepEqual(json.rows[0].cells.slice(0, 2), ["c", 1]);
      assert.equal(json.rows[0].object.kind, "PartialObjectMetadata");
      const whole = await request("GET", `${core}/configmaps?includeObject=None`, { headers: { Accept } });
      assert.equal(whole.json.rows[0].object ?? null, null);
      const metadata = { Accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
      const partial = await request("GET", `${core}/configmaps/c`, { headers: metadata });
      assert.equal(partial.json.kind, "PartialObjectMetadata");
      assert.equal(partial.json.data, undefined);
    },
  },
  {
    id: "describe",
    says: "describe tells about each kind, with its events",
    async run({ output, request, core, namespace }) {
      await output("create -f -", deployment(2));
      await output("create -f -", pod("p"));
      await output("create cm c --from-literal=a=1");
      await output("create secret generic s --from-literal=a=1");
      const { uid } = (await request("GET", `${core}/pods/p`)).json.metadata;
      const event = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "e1", namespace },
        involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace, uid },
        reason: "Tested",
        message: "it was looked at",
        type: "Normal",
        source: { component: "suite" },
      };
      await output("create -f -", JSON.stringify(event));
      assert.match(await output("describe deploy web"), /RollingUpdateStrategy: +25% max unavailable, 25% max surge/);
      assert.match(
        await output("describe pod p"),
        /QoS Class: +BestEffort[^]*Tested +<unknown> +suite +it was looked at/,
      );
      assert.match(await output("describe cm c"), /a:\n----\n1\n/);
      assert.match(await output("describe secret s"), /Type: +Opaque/);
      assert.match(await output(`describe ns ${namespace}`), /Status: +Active/);
      assert.match(await output("get events"), /Normal +Tested +pod\/p +it was looked at/);
      assert.match(await output("events --for pod/p"), /Tested/);
      assert.match(await output("get events --field-selector involvedObject.name=p -o name"), /event\/e1/);
    },
  },
  {
    id: "explain",
    says: "explain knows kinds and fields, and says which it does not know",
    async run({ output, refusal }) {
      assert.match(
        await output("explain pod.spec.containers.ports.containerPort"),
        /KIND: +Pod\nVERSION: +v1\n\nFIELD: containerPort <integer>/,
      );
      assert.match(await output("explain deployment"), /GROUP: +apps\nKIND: +Deployment\nVERSION: +v1/);
      assert.match(await refusal("explain pod.spec.nope"), /error: field "nope" does not exist/);
      assert.match(await refusal("explain nope"), /the server doesn't have a resource type "nope"/);
    },
  },
  {
    id: "discovery",
    says: "api-resources lists names, short names, groups and verbs",
    async run({ output, request }) {
      const apps = await output("api-resources --api-group=apps");
      assert.match(apps, /deployments +deploy +apps\/v1 +true +Deployment/);
      const core = await output("api-resources --api-group= -o wide");
      assert.match(core, /pods +po +v1 +true +Pod +create,delete,deletecollection,get,list,patch,update,watch +all/);
      assert.match(await output("api-versions"), /^admissionregistration\.k8s\.io\/v1\n/);
      const { json } = await request("GET", "/version");
      assert.equal(json.major, "1");
      assert.equal((await request("GET", "/readyz")).text, "ok");
      assert.equal((await request("GET", "/apis/nope.example.com")).status, 404);
    },
  },
  {
    id: "watch-kubectl",
    says: "get -w prints an object whenever it changes",
    async run({ output, kubectl }) {
      await output("create cm watched --from-literal=a=first");
      const columns = "custom-columns=A:.data.a";
      const watching = kubectl(["get", "cm", "watched", "-o", columns, "-w", "--request-timeout=4s"]);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await output(["patch", "cm", "watched", "-p", '{"data":{"a":"seen"}}']);
      assert.match((await watching).output, /^A\nfirst\nseen\n/);
    },
  },
] satisfies Statement[];
