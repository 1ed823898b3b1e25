import {
  CoreV1Api,
  KubeConfig,
  ListWatch,
  PatchStrategy,
  Watch,
  makeInformer,
  setHeaderOptions,
  type V1ConfigMap,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbedded } from "./targets/embedded.ts";
import type { Target } from "./targets/target.ts";

// `packages/e2e/clients/go` does the same with the Go client, in `npm run test:conformance`.
describe("Kubernetes' own JavaScript client", () => {
  const namespace = "default";
  let target: Target;
  let config: KubeConfig;
  let core: CoreV1Api;
  beforeAll(async () => {
    target = await startEmbedded();
    config = new KubeConfig();
    config.loadFromFile(target.kubeconfig);
    core = config.makeApiClient(CoreV1Api);
    for (const name of ["a", "b", "c"]) {
      const body = { metadata: { name, labels: { madeBy: "javascript" } }, data: { n: "1" } };
      await core.createNamespacedConfigMap({ namespace, body });
    }
  });
  afterAll(() => target.stop());

  it("lists in pages", async () => {
    const names: (string | undefined)[] = [];
    let token: string | undefined;
    do {
      const page = await core.listNamespacedConfigMap({
        namespace,
        limit: 2,
        labelSelector: "madeBy=javascript",
        ...(token === undefined ? {} : { _continue: token }),
      });
      names.push(...page.items.map((item) => item.metadata?.name));
      token = page.metadata?._continue;
    } while (token !== undefined && token !== "");
    expect(names).toEqual(["a", "b", "c"]);
  });

  it("patches in each way", async () => {
    const patch = (body: object, strategy: string, options: { force?: boolean } = {}) =>
      core.patchNamespacedConfigMap(
        { namespace, name: "a", body, fieldManager: "javascript", ...options },
        setHeaderOptions("Content-Type", strategy),
      );
    await patch([{ op: "replace", path: "/data/n", value: "2" }], PatchStrategy.JsonPatch);
    await patch({ data: { merge: "1" } }, PatchStrategy.MergePatch);
    await patch({ data: { strategic: "1" } }, PatchStrategy.StrategicMergePatch);
    const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { applied: "1" } };
    const result = await patch(applied, PatchStrategy.ServerSideApply, { force: true });
    expect(result.data).toMatchObject({ n: "2", merge: "1", strategic: "1", applied: "1" });
  });

  it("watches, and reads errors", async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const seen: string[] = [];
    let done = (): void => undefined;
    const finished = new Promise<void>((resolve) => (done = resolve));
    const controller = await new Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { resourceVersion: metadata?.resourceVersion },
      (type, object: V1ConfigMap) => {
        seen.push(`${type} ${object.metadata?.name}`);
        if (seen.length === 2) done();
      },
      () => undefined,
    );
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "d" } } });
    await core.deleteNamespacedConfigMap({ namespace, name: "d" });
    await finished;
    controller.abort();
    expect(seen).toEqual(["ADDED d", "DELETED d"]);
    await expect(core.readNamespacedConfigMap({ namespace, name: "nope" })).rejects.toMatchObject({ code: 404 });
  });

  it("keeps an informer's copy up to date", async () => {
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
      core.listNamespacedConfigMap({ namespace }),
    );
    const changed = new Promise<string | undefined>((resolve) => {
      informer.on("update", (object: V1ConfigMap) => resolve(object.data?.["n"]));
    });
    await informer.start();
    expect(informer).toBeInstanceOf(ListWatch);
    const body = { data: { n: "seen" } };
    await core.patchNamespacedConfigMap(
      { namespace, name: "b", body },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    expect(await changed).toBe("seen");
    await informer.stop();
  });
});
