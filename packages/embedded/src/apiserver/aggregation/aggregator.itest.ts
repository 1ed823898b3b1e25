import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { WebSocketServer } from "ws";

import { startHttps, type TestHttps } from "../testing/test-https.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

describe("aggregated APIs", () => {
  let test: TestServer;
  let remote: TestHttps;
  let seen: { url: string; user: string; groups: string; authorization: string | undefined }[] = [];

  beforeAll(async () => {
    test = await startTestServer();
    const published = await test.request(
      "GET",
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
    );
    const clientAuthority: string = published.json.data["requestheader-client-ca-file"];
    remote = await startHttps(
      ["remote.default.svc"],
      (request, body, response) => {
        const { headers } = request;
        seen.push({
          url: request.url ?? "",
          user: String(headers["x-remote-user"]),
          groups: String(headers["x-remote-group"]),
          authorization: headers.authorization,
        });
        response.setHeader("Content-Type", "application/json");
        if (request.url === "/apis/remote.example.com/v1") {
          const resources = [
            { name: "things", namespaced: true, kind: "Thing", verbs: ["get"] },
            { name: "things/console", namespaced: true, kind: "Thing", verbs: ["get"] },
          ];
          response.end(
            JSON.stringify({
              kind: "APIResourceList",
              apiVersion: "v1",
              groupVersion: "remote.example.com/v1",
              resources,
            }),
          );
        } else {
          response.statusCode = 418;
          response.end(JSON.stringify({ method: request.method, body }));
        }
      },
      { clientAuthority },
    );
    const sockets = new WebSocketServer({ server: remote.server, handleProtocols: () => "plain.example.com" });
    sockets.on("connection", (socket) =>
      socket.on("message", (data: Buffer) => socket.send(`echo ${data.toString()}`)),
    );
    await test.request("POST", "/api/v1/namespaces/default/services", {
      metadata: { name: "remote" },
      spec: { ports: [{ port: 443, targetPort: remote.port }] },
    });
    await test.request("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
      metadata: { name: "v1.remote.example.com" },
      spec: {
        group: "remote.example.com",
        version: "v1",
        service: { namespace: "default", name: "remote" },
        caBundle: remote.caBundle,
        groupPriorityMinimum: 1000,
        versionPriority: 15,
      },
    });
  });
  afterAll(async () => {
    await test.stop();
    await remote.close();
  });

  const condition = async () =>
    (await test.request("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.remote.example.com")).json.status
      ?.conditions?.[0];

  it("says that nobody answers, then that all is well once endpoints are there", async () => {
    await vi.waitUntil(async () => (await condition())?.reason === "MissingEndpoints", 10_000);
    const refused = await test.request("GET", "/apis/remote.example.com/v1/namespaces/default/things/a");
    expect(refused).toMatchObject({ status: 503, json: { message: 'no endpoints available for service "remote"' } });
    await test.request("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      metadata: { name: "remote-1", labels: { "kubernetes.io/service-name": "remote" } },
      addressType: "IPv4",
      ports: [{ port: remote.port }],
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    });
    await vi.waitUntil(async () => (await condition())?.status === "True", 10_000);
    expect(await condition()).toMatchObject({ type: "Available", reason: "Passed", message: "all checks passed" });
  });

  it("shows the remote resources in discovery", async () => {
    const accept = { Accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
    const groups = (await test.request("GET", "/apis", undefined, accept)).json.items as {
      metadata: { name: string };
      versions: object[];
    }[];
    expect(groups.find(({ metadata }) => metadata.name === "remote.example.com")?.versions).toMatchObject([
      {
        version: "v1",
        freshness: "Current",
        resources: [{ resource: "things", scope: "Namespaced", subresources: [{ subresource: "console" }] }],
      },
    ]);
  });

  it("passes requests on with the user's name and without the user's credentials", async () => {
    seen = [];
    const answer = await test.request(
      "PUT",
      "/apis/remote.example.com/v1/namespaces/default/things/a?x=1",
      { hello: 1 },
      { "X-Remote-User": "forged" },
    );
    expect(answer).toMatchObject({ status: 418, json: { method: "PUT", body: '{"hello":1}' } });
    expect(seen).toEqual([
      {
        url: "/apis/remote.example.com/v1/namespaces/default/things/a?x=1",
        user: "admin",
        groups: "system:masters, system:authenticated",
        authorization: undefined,
      },
    ]);
  });

  it("asks RBAC first", async () => {
    const stranger = test.clientAs("stranger", []);
    const answer = await stranger
      .request("GET", "/apis/remote.example.com/v1/namespaces/default/things/a")
      .catch((error: unknown) => error);
    expect(answer).toMatchObject({ code: "KubeForbidden" });
  });

  it("passes WebSockets on", async () => {
    const socket = await test.client.connect("/apis/remote.example.com/v1/namespaces/default/things/a/console", {
      protocols: ["plain.example.com"],
    });
    const answer = new Promise((resolve) => {
      socket.once("message", (data: Buffer) => resolve(data.toString()));
    });
    socket.send("hello");
    expect(await answer).toBe("echo hello");
    expect(socket.protocol).toBe("plain.example.com");
    socket.close();
  });
});
