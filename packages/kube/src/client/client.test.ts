import { configMaps, nodes, pods, type ConfigMap } from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fixedCredentials, type CredentialSource } from "../config/connection.ts";
import { KubeStatusError, statusOf } from "../errors.ts";
import { answer, failure, startApiDouble, type ApiDouble } from "../testing/api-double.ts";
import { createKubeClient } from "./client.ts";
import type { KubeClient } from "./kube-client.ts";

let api: ApiDouble;
let client: KubeClient;

function connect(credentials: CredentialSource = fixedCredentials(api.clientCertificate)): KubeClient {
  return createKubeClient({
    clock: systemClock,
    logger: silentLogger,
    userAgent: "polyvirt-test/1",
    connection: { server: api.url, certificateAuthority: api.certificateAuthority, namespace: "default", credentials },
  });
}

beforeEach(async () => {
  api = await startApiDouble();
  client = connect();
});
afterEach(async () => {
  client.close();
  await api.close();
});

const config = (name: string, data = {}): ConfigMap => ({ metadata: { name, namespace: "default" }, data });

describe("requests", () => {
  it("identifies itself with its certificate and reuses the connection", async () => {
    api.put(config("a", { x: "1" }));
    await client.get(configMaps, "a", "default");
    const read = await client.get(configMaps, "a");
    expect(read.data).toEqual({ x: "1" });
    expect(api.requests.map(({ user }) => user)).toEqual(["tester", "tester"]);
    expect(api.requests[0]?.headers["user-agent"]).toBe("polyvirt-test/1");
    expect(api.requests[1]?.url.pathname).toBe("/api/v1/namespaces/default/configmaps/a");
  });

  it.each([
    [
      "create",
      () => client.create(configMaps, config("a"), { dryRun: true }),
      "POST",
      "/configmaps?dryRun=All",
      "application/json",
    ],
    ["update", () => client.update(configMaps, config("a")), "PUT", "/configmaps/a", "application/json"],
    [
      "updateStatus",
      () => client.updateStatus(configMaps, config("a")),
      "PUT",
      "/configmaps/a/status",
      "application/json",
    ],
    [
      "json patch",
      () => client.patch(configMaps, "a", "default", { type: "json", body: [] }),
      "PATCH",
      "/configmaps/a",
      "application/json-patch+json",
    ],
    [
      "merge patch",
      () => client.patch(configMaps, "a", "default", { type: "merge", body: {}, subresource: "status" }),
      "PATCH",
      "/configmaps/a/status",
      "application/merge-patch+json",
    ],
    [
      "apply",
      () => client.apply(configMaps, config("a"), { fieldManager: "test", force: true }),
      "PATCH",
      "/configmaps/a?fieldManager=test&force=true",
      "application/apply-patch+yaml",
    ],
  ] as const)("sends %s as Kubernetes expects it", async (_name, act, method, path, contentType) => {
    await act();
    const seen = api.requests[0];
    expect(seen?.method).toBe(method);
    expect(`${seen?.url.pathname}${seen?.url.search}`).toBe(`/api/v1/namespaces/default${path}`);
    expect(seen?.headers["content-type"]).toBe(contentType);
  });

  it("fills in the type of what it writes and of what a list brings", async () => {
    api.put(config("a"));
    await client.create(configMaps, config("b"));
    expect(JSON.parse(api.requests[0]?.body ?? "")).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    const { items } = await client.list(configMaps);
    expect(items).toMatchObject([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }]);
  });

  it("uses no namespace for cluster-scoped kinds", async () => {
    api.intercept((_request, response) => (answer(response, 200, { metadata: {} }), true));
    await client.get(nodes, "n1");
    expect(api.requests[0]?.url.pathname).toBe("/api/v1/nodes/n1");
  });

  it("reads a long list page by page", async () => {
    for (let index = 0; index < 1201; index++) api.put(config(`c${index}`));
    const { items, metadata } = await client.list(configMaps, { namespace: "default" });
    expect(items).toHaveLength(1201);
    expect(metadata.continue).toBeUndefined();
    expect(api.requests).toHaveLength(3);
  });

  it("sends delete options in the body", async () => {
    api.intercept((_request, response) => (answer(response, 200, {}), true));
    await client.delete(pods, "a", "default", { gracePeriodSeconds: 0, preconditions: { uid: "u1" } });
    expect(JSON.parse(api.requests[0]?.body ?? "")).toMatchObject({
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      preconditions: { uid: "u1" },
    });
  });
});

describe("failures", () => {
  it.each([
    [404, "NotFound", "KubeNotFound"],
    [409, "AlreadyExists", "KubeAlreadyExists"],
    [409, "Conflict", "KubeConflict"],
    [410, "Expired", "KubeGone"],
    [422, "Invalid", "KubeInvalid"],
    [403, "Forbidden", "KubeForbidden"],
    [500, "InternalError", "KubeServerError"],
    [503, "ServiceUnavailable", "KubeServerError"],
  ])("%d %s becomes %s", async (code, reason, expected) => {
    const causes = [{ field: "spec.x", message: "is wrong" }];
    api.intercept((_request, response) => (answer(response, code, failure(code, reason, "no", { causes })), true));
    const error = await client.get(configMaps, "a").catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KubeStatusError);
    expect(error).toMatchObject({ code: expected, httpStatus: code, causes, message: "get configmaps default/a: no" });
    expect(statusOf(error)?.reason).toBe(reason);
  });

  it("quotes an answer that is no Status", async () => {
    api.intercept((_request, response) => (response.writeHead(502).end("<html>proxy</html>"), true));
    await expect(client.get(configMaps, "a")).rejects.toMatchObject({
      code: "KubeServerError",
      message: "get configmaps default/a: <html>proxy</html>",
    });
  });

  it("says so when the server cannot be reached", async () => {
    await api.close();
    await expect(client.get(configMaps, "a")).rejects.toMatchObject({ code: "KubeUnavailable", retry: true });
  });

  it("refuses a server whose certificate another authority signed", async () => {
    const stranger = createKubeClient({
      clock: systemClock,
      logger: silentLogger,
      connection: { server: api.url, namespace: "default", credentials: fixedCredentials({}) },
    });
    await expect(stranger.get(configMaps, "a")).rejects.toMatchObject({ code: "KubeUnavailable" });
    expect(api.requests).toHaveLength(0);
  });

  it("waits when it is asked to slow down", async () => {
    let refusals = 2;
    api.put(config("a"));
    api.intercept((_request, response) => {
      if (refusals-- <= 0) return false;
      response.setHeader("retry-after", "0");
      answer(response, 429, failure(429, "TooManyRequests", "slow down"));
      return true;
    });
    expect((await client.get(configMaps, "a")).metadata.name).toBe("a");
    expect(api.requests).toHaveLength(3);
  });

  it("asks for a new token once when the old one is refused", async () => {
    let token = "old";
    const tokens: CredentialSource = {
      get: () => Promise.resolve({ token }),
      invalidate: () => (token = "new"),
    };
    api.put(config("a"));
    api.intercept((request, response) => {
      if (request.headers.authorization === "Bearer new") return false;
      answer(response, 401, failure(401, "Unauthorized", "who are you"));
      return true;
    });
    const rotating = connect(tokens);
    expect((await rotating.get(configMaps, "a")).metadata.name).toBe("a");
    rotating.close();
  });

  it("reads again when a kept connection turns out to be closed, and does not write again", async () => {
    api.put(config("a"));
    const dropReused = () => {
      let dropped = false;
      return (request: { method: string }, response: { socket: { destroy(): void } | null }) => {
        if (dropped) return false;
        dropped = true;
        response.socket?.destroy();
        return request.method !== "";
      };
    };
    await client.get(configMaps, "a");
    api.intercept(dropReused());
    expect((await client.get(configMaps, "a")).metadata.name).toBe("a");
    api.intercept(dropReused());
    await expect(client.create(configMaps, config("b"))).rejects.toMatchObject({ code: "KubeUnavailable" });
  });

  it("does not wait for an answer that stops in the middle", async () => {
    const clock = createManualClock();
    const patient = createKubeClient({
      clock,
      logger: silentLogger,
      connection: {
        server: api.url,
        certificateAuthority: api.certificateAuthority,
        namespace: "default",
        credentials: fixedCredentials(api.clientCertificate),
      },
    });
    api.intercept((_request, response) => (response.writeHead(200).write("{"), true));
    const answered = patient.get(configMaps, "a").catch((error: unknown) => error);
    await vi.waitFor(() => expect(api.requests).toHaveLength(1));
    await vi.waitFor(async () => {
      await clock.advance(61_000);
      expect(clock.pendingTimers()).toBe(0);
    });
    expect(await answered).toMatchObject({ code: "KubeTimeout" });
    patient.close();
  });

  it("ends a request when its signal says so", async () => {
    api.intercept(() => true);
    const abort = new AbortController();
    const pending = client.list(configMaps, { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
  });
});
