import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { startTestServer, type TestServer } from "../testing/test-server.ts";

describe("access", () => {
  let test: TestServer;
  beforeAll(async () => {
    test = await startTestServer();
    await test.request("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "bot" } });
    await test.request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", {
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }],
    });
    await test.request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
      metadata: { name: "reader" },
      roleRef: { kind: "Role", name: "reader" },
      subjects: [{ kind: "ServiceAccount", name: "bot", namespace: "default" }],
    });
  });
  afterAll(() => test.stop());

  const tokenFor = async (spec: object = {}) =>
    (await test.request("POST", "/api/v1/namespaces/default/serviceaccounts/bot/token", { spec })).json.status
      .token as string;
  const withToken = (token: string, method: string, path: string, body?: unknown) =>
    test.request(method, path, body, { Authorization: `Bearer ${token}` });

  it("gives a service account's token the rights of its roles, and no more", async () => {
    const token = await tokenFor();
    expect((await withToken(token, "GET", "/api/v1/namespaces/default/configmaps")).status).toBe(200);
    expect((await withToken(token, "GET", "/api/v1/namespaces/kube-system/configmaps")).status).toBe(403);
    expect(await withToken(token, "DELETE", "/api/v1/namespaces/default/configmaps/x")).toMatchObject({
      status: 403,
      json: {
        message:
          'configmaps "x" is forbidden: User "system:serviceaccount:default:bot" cannot delete resource "configmaps" in API group "" in the namespace "default"',
      },
    });
  });

  it("keeps tokens valid over a restart, because the key is kept", async () => {
    const token = await tokenFor();
    await test.restart();
    expect((await withToken(token, "GET", "/api/v1/namespaces/default/configmaps")).status).toBe(200);
  });

  it("refuses tokens that are forged, for others, or whose pod is gone", async () => {
    const token = await tokenFor();
    const [head, , signature] = token.split(".");
    const forged = `${head}.${Buffer.from('{"sub":"system:admin","exp":99999999999}').toString("base64url")}.${signature}`;
    const elsewhere = await tokenFor({ audiences: ["https://other"] });
    for (const wrong of ["nonsense", forged, elsewhere]) {
      expect((await withToken(wrong, "GET", "/api/v1/namespaces/default/configmaps")).status).toBe(401);
    }
    const pods = "/api/v1/namespaces/default/pods";
    const pod = await test.request("POST", pods, {
      metadata: { name: "bound" },
      spec: { serviceAccountName: "bot", containers: [{ name: "c", image: "x" }] },
    });
    const bound = await tokenFor({
      boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "bound", uid: pod.json.metadata.uid },
    });
    expect((await withToken(bound, "GET", "/api/v1/namespaces/default/configmaps")).status).toBe(200);
    await test.request("DELETE", `${pods}/bound`);
    expect((await withToken(bound, "GET", "/api/v1/namespaces/default/configmaps")).status).toBe(401);
  });

  it("reviews tokens and access for others", async () => {
    const token = await tokenFor();
    const review = await test.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token } });
    expect(review.json.status).toMatchObject({
      authenticated: true,
      user: { username: "system:serviceaccount:default:bot" },
    });
    const ask = async (verb: string) =>
      (
        await test.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
          spec: {
            user: "system:serviceaccount:default:bot",
            resourceAttributes: { verb, resource: "configmaps", namespace: "default" },
          },
        })
      ).json.status;
    expect(await ask("get")).toMatchObject({
      allowed: true,
      reason: expect.stringContaining('RoleBinding "reader/default"'),
    });
    expect(await ask("delete")).toEqual({ allowed: false });
  });

  it("lets nobody give away more than they have", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    await test.request("POST", `${rbac}/rolebindings`, {
      metadata: { name: "ann" },
      roleRef: { kind: "ClusterRole", name: "admin" },
      subjects: [{ kind: "User", name: "ann" }],
    });
    const ann = test.clientAs("ann", []);
    const role = (name: string, resources: string[]) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name, namespace: "default" },
      rules: [{ apiGroups: [""], resources, verbs: ["get"] }],
    });
    const roles = {
      group: "rbac.authorization.k8s.io",
      version: "v1",
      kind: "Role",
      plural: "roles",
      namespaced: true,
    } as const;
    await ann.create(roles, role("held", ["pods", "secrets"]));
    await expect(ann.create(roles, role("more", ["nodes"]))).rejects.toThrow(
      /is attempting to grant RBAC permissions not currently held:\n{APIGroups:\[""\], Resources:\["nodes"\], Verbs:\["get"\]}/,
    );
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "up", namespace: "default" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "User", name: "ann" }],
    };
    await expect(ann.create({ ...roles, kind: "RoleBinding", plural: "rolebindings" }, binding)).rejects.toMatchObject({
      code: "KubeForbidden",
    });
  });

  it("adds rules with the right label to the roles that people have", async () => {
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    await test.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
      metadata: { name: "view-things", labels },
      rules: [{ apiGroups: ["example.com"], resources: ["things"], verbs: ["get"] }],
    });
    const groupsOf = async (name: string) => {
      const role = await test.request("GET", `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`);
      return (role.json.rules as { apiGroups?: string[] }[]).flatMap((rule) => rule.apiGroups ?? []);
    };
    for (const name of ["view", "edit", "admin"])
      await vi.waitUntil(async () => (await groupsOf(name)).includes("example.com"), 5000);
    expect(await groupsOf("view")).not.toContain("rbac.authorization.k8s.io");
  });

  it("lets strangers see that the server is well and which version it is, and nothing else", async () => {
    const anonymous = (path: string) => test.request("GET", path, undefined, { "X-Anonymous": "yes" });
    expect((await anonymous("/readyz")).status).toBe(200);
    expect((await anonymous("/version")).status).toBe(200);
    expect(await anonymous("/api/v1/secrets")).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining('User "system:anonymous" cannot list resource "secrets"') },
    });
    expect((await anonymous("/apis")).status).toBe(403);
  });

  it("lets a kubelet write its own node and nobody else's", async () => {
    const kubelet = (node: string) => test.clientAs(`system:node:${node}`, ["system:nodes"]);
    const nodes = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;
    const one = kubelet("one");
    await one.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "one" } });
    await test.request("POST", "/api/v1/nodes", { metadata: { name: "two" } });
    const patch = { type: "merge", body: { metadata: { labels: { a: "b" } } } } as const;
    await one.patch(nodes, "one", undefined, patch);
    await expect(one.patch(nodes, "two", undefined, patch)).rejects.toMatchObject({ code: "KubeForbidden" });
    await expect(
      one.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "three" } }),
    ).rejects.toMatchObject({ code: "KubeForbidden" });
  });

  it("lets a kubelet report and delete only pods of its node", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    await test.request("POST", pods, {
      metadata: { name: "elsewhere" },
      spec: { nodeName: "two", containers: [{ name: "c", image: "x" }] },
    });
    const podType = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true } as const;
    const one = test.clientAs("system:node:one", ["system:nodes"]);
    const status = { type: "merge", subresource: "status", body: { status: { phase: "Running" } } } as const;
    await expect(one.patch(podType, "elsewhere", "default", status)).rejects.toMatchObject({ code: "KubeForbidden" });
    await expect(one.delete(podType, "elsewhere", "default")).rejects.toMatchObject({ code: "KubeForbidden" });
    await test.clientAs("system:node:two", ["system:nodes"]).patch(podType, "elsewhere", "default", status);
    await expect(
      one.createSubresource(
        { ...podType, plural: "serviceaccounts", kind: "ServiceAccount" },
        { name: "default", namespace: "default", subresource: "token" },
        { spec: {} },
      ),
    ).rejects.toMatchObject({ code: "KubeForbidden" });
  });
});
