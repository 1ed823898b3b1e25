import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { startTestServer, type TestServer } from "../testing/test-server.ts";

describe("deletion", () => {
  let test: TestServer;
  beforeAll(async () => {
    test = await startTestServer();
  });
  afterAll(() => test.stop());

  const path = "/api/v1/namespaces/default/configmaps";
  interface Owner {
    name: string;
    uid: string;
  }
  const create = async (
    name: string,
    owners: (Owner & { block?: boolean })[] = [],
    finalizers?: string[],
  ): Promise<Owner> => {
    const ownerReferences = owners.map(({ block, ...owner }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      ...owner,
      ...(block === true ? { blockOwnerDeletion: true } : {}),
    }));
    const answer = await test.request("POST", path, { metadata: { name, ownerReferences, finalizers } });
    expect(answer.text).toContain("uid");
    return { name, uid: answer.json.metadata.uid as string };
  };
  const exists = async (name: string) => (await test.request("GET", `${path}/${name}`)).status === 200;
  const gone = (name: string) => vi.waitUntil(async () => !(await exists(name)), 5000);
  const remove = (name: string, propagationPolicy: string) =>
    test.request("DELETE", `${path}/${name}`, { propagationPolicy });
  const dropFinalizers = (name: string) =>
    test.request(
      "PATCH",
      `${path}/${name}`,
      { metadata: { finalizers: null } },
      { "Content-Type": "application/merge-patch+json" },
    );

  it("takes dependents of dependents along", async () => {
    const owner = await create("bg-owner");
    const child = await create("bg-child", [owner]);
    await create("bg-grandchild", [child]);
    await remove("bg-owner", "Background");
    await gone("bg-child");
    await gone("bg-grandchild");
    expect(await exists("bg-owner")).toBe(false);
  });

  it("leaves dependents alone when told to orphan them", async () => {
    const owner = await create("or-owner");
    await create("or-child", [owner]);
    await remove("or-owner", "Orphan");
    await gone("or-owner");
    const child = await test.request("GET", `${path}/or-child`);
    expect(child.json.metadata.ownerReferences).toBeUndefined();
  });

  it("waits for dependents that block, in the foreground", async () => {
    const owner = await create("fg-owner");
    await create("fg-child", [{ ...owner, block: true }], ["example.com/hold"]);
    await remove("fg-owner", "Foreground");
    await vi.waitUntil(
      async () => (await test.request("GET", `${path}/fg-child`)).json.metadata.deletionTimestamp !== undefined,
      5000,
    );
    expect(await exists("fg-owner")).toBe(true);
    await dropFinalizers("fg-child");
    await gone("fg-child");
    await gone("fg-owner");
  });

  it("takes a dependent's dependents first, and leaves those alone that have another owner", async () => {
    const owner = await create("deep-owner");
    const other = await create("deep-other");
    const child = await create("deep-child", [{ ...owner, block: true }]);
    await create("deep-grandchild", [{ ...child, block: true }], ["example.com/hold"]);
    await create("deep-shared", [{ ...owner, block: true }, other]);
    await remove("deep-owner", "Foreground");
    await vi.waitUntil(
      async () => (await test.request("GET", `${path}/deep-grandchild`)).json.metadata.deletionTimestamp !== undefined,
      5000,
    );
    const finalizers = async (name: string) =>
      (await test.request("GET", `${path}/${name}`)).json.metadata.finalizers as string[] | undefined;
    expect(await finalizers("deep-child")).toEqual(["foregroundDeletion"]);
    expect(await finalizers("deep-grandchild")).toEqual(["example.com/hold"]);
    await dropFinalizers("deep-grandchild");
    await gone("deep-owner");
    const shared = await test.request("GET", `${path}/deep-shared`);
    expect(shared.json.metadata.ownerReferences).toMatchObject([{ name: "deep-other" }]);
  });

  it("keeps a dependent while one owner lives, and knows owners by UID alone", async () => {
    const one = await create("two-one");
    const other = await create("two-other");
    await create("two-child", [one, other]);
    await remove("two-one", "Background");
    await vi.waitUntil(
      async () => (await test.request("GET", `${path}/two-child`)).json.metadata.ownerReferences?.length === 1,
      5000,
    );
    await create("two-one");
    await create("stray", [{ name: "two-one", uid: "11111111-1111-1111-1111-111111111111" }]);
    await gone("stray");
    expect(await exists("two-child")).toBe(true);
  });

  it("waits for finalizers and takes no new ones then", async () => {
    await create("held", [], ["example.com/hold"]);
    const answer = await remove("held", "Background");
    expect(answer.json.metadata.deletionTimestamp).toBeDefined();
    const added = await test.request(
      "PATCH",
      `${path}/held`,
      { metadata: { finalizers: ["example.com/hold", "example.com/more"] } },
      { "Content-Type": "application/merge-patch+json" },
    );
    expect(added).toMatchObject({ status: 422 });
    expect(added.json.message).toMatch(/no new finalizers can be added if the object is being deleted/);
    await dropFinalizers("held");
    await gone("held");
  });

  it("deletes only the object that was meant", async () => {
    const { uid } = await create("meant");
    const wrong = await test.request("DELETE", `${path}/meant`, { preconditions: { uid: "other" } });
    expect(wrong).toMatchObject({ status: 409 });
    expect((await test.request("DELETE", `${path}/meant`, { preconditions: { uid } })).status).toBe(200);
  });

  it("empties a namespace, and lets nothing new in meanwhile", async () => {
    await test.request("POST", "/api/v1/namespaces", { metadata: { name: "leaving" } });
    await test.request("POST", "/api/v1/namespaces/leaving/configmaps", {
      metadata: { name: "held", finalizers: ["example.com/hold"] },
    });
    await test.request("DELETE", "/api/v1/namespaces/leaving");
    const phase = async () =>
      (await test.request("GET", "/api/v1/namespaces/leaving")).json.status?.phase as string | undefined;
    expect(await phase()).toBe("Terminating");
    const late = await test.request("POST", "/api/v1/namespaces/leaving/configmaps", { metadata: { name: "late" } });
    expect(late.json.message).toMatch(
      /unable to create new content in namespace leaving because it is being terminated/,
    );
    await test.request(
      "PATCH",
      "/api/v1/namespaces/leaving/configmaps/held",
      { metadata: { finalizers: null } },
      { "Content-Type": "application/merge-patch+json" },
    );
    await vi.waitUntil(async () => (await phase()) === undefined, 5000);
  });

  it("gives a scheduled pod its grace, which only its kubelet ends", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    await test.request("POST", pods, {
      metadata: { name: "p" },
      spec: { terminationGracePeriodSeconds: 7, containers: [{ name: "c", image: "x" }] },
    });
    const binding = await test.request("POST", `${pods}/p/binding`, { target: { kind: "Node", name: "n1" } });
    expect(binding.status).toBe(201);
    expect((await test.request("POST", `${pods}/p/binding`, { target: { name: "n2" } })).json.message).toMatch(
      /pod p is already assigned to node "n1"/,
    );
    const marked = await test.request("DELETE", `${pods}/p`);
    expect(marked.json.metadata).toMatchObject({
      deletionGracePeriodSeconds: 7,
      deletionTimestamp: expect.any(String),
    });
    expect((await test.request("GET", `${pods}/p`)).status).toBe(200);
    await test.request("DELETE", `${pods}/p`, { gracePeriodSeconds: 0 });
    expect((await test.request("GET", `${pods}/p`)).status).toBe(404);
  });

  it("finishes after a restart what it had begun", async () => {
    const owner = await create("re-owner", [], ["example.com/hold"]);
    await create("re-child", [owner]);
    await remove("re-owner", "Orphan");
    await test.restart();
    await dropFinalizers("re-owner");
    await gone("re-owner");
    expect(await exists("re-child")).toBe(true);
  });
});
