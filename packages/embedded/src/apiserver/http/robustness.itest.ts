import { connect } from "node:tls";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestServer, type TestServer } from "../testing/test-server.ts";

const path = "/api/v1/namespaces/default/configmaps";

describe("hostile requests", () => {
  let test: TestServer;
  beforeAll(async () => {
    test = await startTestServer();
  });
  afterAll(() => test.stop());

  const alive = async () => (await test.request("GET", "/readyz")).text;

  it.each<[string, string | Buffer, Record<string, string>, number]>([
    ["broken JSON", "{", {}, 400],
    ["a list", "[]", {}, 400],
    ["a number", "7", {}, 400],
    ["nothing", "", {}, 400],
    ["broken UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), {}, 400],
    ["broken YAML", "a: [b: c", { "Content-Type": "application/yaml" }, 400],
    [
      "a YAML bomb",
      `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi"
        .split("")
        .map(
          (name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdefgh"[index]}`).join(",")}]`,
        )
        .join("\n")}\n`,
      { "Content-Type": "application/yaml" },
      400,
    ],
    ["lists in lists without end", "[".repeat(200_000) + "]".repeat(200_000), {}, 400],
    [
      "objects in objects without end",
      `{"metadata":{"name":"deep"},"data":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`,
      {},
      400,
    ],
    [
      "lists in an open field without end",
      `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"deep"},"data":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
      {},
      400,
    ],
    ["another kind", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}', {}, 400],
    ["another version", '{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"x"}}', {}, 400],
    ["an unknown form", "a=b", { "Content-Type": "application/x-www-form-urlencoded" }, 415],
    ["an unknown wish", '{"metadata":{"name":"x"}}', { Accept: "image/png" }, 406],
    ["names of the prototype", '{"metadata":{"name":"proto"},"data":{"__proto__":"x","constructor":"y"}}', {}, 201],
  ])("with %s get an answer", async (_what, body, headers, status) => {
    const answer = await test.request("POST", path, body, headers);
    expect(answer.status).toBe(status);
    expect(["Status", "ConfigMap"]).toContain(answer.json.kind);
    expect(await alive()).toBe("ok");
  });

  it("that are too large are refused while they come in", async () => {
    const answer = await test
      .request("POST", path, `{"data":{"a":"${"x".repeat(4 * 1024 * 1024)}"}}`)
      .catch((error: Error) => error);
    // Depending on how fast the client writes, it reads the answer or finds the connection closed.
    expect(answer instanceof Error ? 413 : answer.status).toBe(413);
    expect(await alive()).toBe("ok");
  });

  it("may be as large as three mebibytes, and what they make keeps a limit too", async () => {
    const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const schema = { openAPIV3Schema: { type: "object", properties: { data: free } } };
    await test.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const things = "/apis/example.com/v1/namespaces/default/things";
    const limit = 3 * 1024 * 1024;
    const identity = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "large" } };
    const empty = JSON.stringify({ ...identity, data: { text: "" } });
    const sized = (size: number) => empty.replace('"text":""', `"text":"${"x".repeat(size - empty.length)}"`);
    expect((await test.request("POST", things, sized(limit))).status).toBe(201);
    const stored = await test.request("GET", `${things}/large`);
    expect(stored.json.data.text).toBe("x".repeat(limit - empty.length));
    const over = await test.request("POST", things, sized(limit + 1)).catch((error: Error) => error);
    // Depending on how fast the client writes, it reads the answer or finds the connection closed.
    expect(over instanceof Error ? `Request entity too large: limit is ${limit}` : over.json.message).toBe(
      `Request entity too large: limit is ${limit}`,
    );
    const grown = await test.request(
      "PATCH",
      `${things}/large`,
      { data: { more: "z".repeat(1_100_000) } },
      { "Content-Type": "application/merge-patch+json" },
    );
    expect(grown).toMatchObject({ status: 413 });
    expect((await test.request("GET", `${things}/large`)).json.data.more).toBeUndefined();
  });

  it("keep the limits of single fields", async () => {
    const tooLong = "Too long: may not be more than";
    const annotated = { metadata: { name: "annotated", annotations: { a: "x".repeat(262_145) } } };
    expect((await test.request("POST", path, annotated)).json.message).toContain(
      `metadata.annotations: ${tooLong} 262144 bytes`,
    );
    const full = { metadata: { name: "full" }, data: { a: "x".repeat(1_048_577) } };
    expect((await test.request("POST", path, full)).json.message).toContain(`[]: ${tooLong} 1048576 bytes`);
    const secrets = "/api/v1/namespaces/default/secrets";
    const secret = (bytes: number) => ({
      metadata: { name: `s${bytes}` },
      data: { a: Buffer.alloc(bytes).toString("base64") },
    });
    expect((await test.request("POST", secrets, secret(1_048_576))).status).toBe(201);
    expect((await test.request("POST", secrets, secret(1_048_577))).json.message).toContain(`data: ${tooLong}`);
  });

  it.each([
    "/api/v1/namespaces/%2e%2e/configmaps/x",
    "/api/v1/namespaces/default/configmaps/..%2f..%2fsecrets",
    "//",
    "/api/v1//namespaces",
    "/%",
    "/apis/%00/v1/x",
  ])("for odd paths get an answer: %s", async (odd) => {
    expect((await test.request("GET", odd)).status).toBeGreaterThanOrEqual(200);
    expect(await alive()).toBe("ok");
  });

  it("that are no HTTP at all only lose their connection", async () => {
    const socket = connect({ host: "127.0.0.1", port: test.server.port, rejectUnauthorized: false });
    await new Promise<void>((resolve) => {
      socket.resume();
      socket.on("close", () => resolve());
      socket.on("error", () => undefined);
      socket.on("secureConnect", () => socket.write("\u0000\u0001garbage\r\n\r\n"));
    });
    expect(await alive()).toBe("ok");
  });

  it("with patches that cannot be applied say why", async () => {
    await test.request("POST", path, { metadata: { name: "patched" } });
    const patch = (type: string, body: unknown) =>
      test.request("PATCH", `${path}/patched`, body, { "Content-Type": type });
    expect(await patch("application/json-patch+json", { no: "list" })).toMatchObject({ status: 400 });
    expect(
      await patch(
        "application/json-patch+json",
        Array.from({ length: 10_001 }, () => ({ op: "test", path: "", value: 1 })),
      ),
    ).toMatchObject({ status: 413 });
    expect(await patch("application/merge-patch+json", "[1]")).toMatchObject({ status: 400 });
    expect(await patch("application/merge-patch+json", { kind: "Pod" })).toMatchObject({ status: 422 });
    expect(await patch("application/merge-patch+json", { metadata: { name: "other" } })).toMatchObject({ status: 400 });
    expect(await patch("text/plain", "x")).toMatchObject({ status: 415 });
    expect(await patch("application/apply-patch+yaml", "a: b: c")).toMatchObject({ status: 400 });
  });
});
