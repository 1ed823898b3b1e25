import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock } from "@polyvirt/core/testing";
import { afterAll, describe, expect, it } from "vitest";
import { inClusterConnection } from "./in-cluster.ts";
import { kubeconfigConnection } from "./kubeconfig.ts";

const directory = mkdtempSync(join(tmpdir(), "polyvirt-kubeconfig-"));
afterAll(() => rmSync(directory, { recursive: true }));

const clock = createManualClock();
const base64 = (text: string) => Buffer.from(text).toString("base64");

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

function kubeconfig(user: object, cluster: object = { server: "https://host:6443" }): string {
  return JSON.stringify({
    "current-context": "main",
    contexts: [
      { name: "main", context: { cluster: "c", user: "u", namespace: "team" } },
      { name: "other", context: { cluster: "c", user: "u" } },
    ],
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
  });
}

let counter = 0;
const load = (text: string, context?: string) =>
  kubeconfigConnection(file(`config-${counter++}`, text), {
    clock,
    environment: { PATH: process.env["PATH"] },
    ...(context === undefined ? {} : { context }),
  });

describe("kubeconfigConnection", () => {
  it("reads certificates from data, and from files beside it", async () => {
    file("client.key", "KEY");
    const connection = await load(
      kubeconfig(
        { "client-certificate-data": base64("CERT"), "client-key": "client.key" },
        { server: "https://host:6443", "certificate-authority-data": base64("CA"), "tls-server-name": "api" },
      ),
    );
    expect(connection).toMatchObject({
      server: "https://host:6443",
      certificateAuthority: "CA",
      tlsServerName: "api",
      namespace: "team",
    });
    expect(await connection.credentials.get()).toEqual({ certificate: "CERT", key: "KEY" });
  });

  it("reads YAML and another context", async () => {
    const text = [
      "current-context: main",
      "contexts: [{name: other, context: {cluster: c, user: u}}]",
      "clusters: [{name: c, cluster: {server: 'http://localhost:8001'}}]",
      "users: [{name: u, user: {token: secret}}]",
    ].join("\n");
    const connection = await load(text, "other");
    expect(connection.namespace).toBe("default");
    expect(await connection.credentials.get()).toEqual({ token: "secret" });
  });

  it("follows a token file", async () => {
    const path = file("token", "one\n");
    const { credentials } = await load(kubeconfig({ tokenFile: "token" }));
    expect(await credentials.get()).toEqual({ token: "one" });
    writeFileSync(path, "two\n");
    expect(await credentials.get()).toEqual({ token: "one" });
    credentials.invalidate();
    expect(await credentials.get()).toEqual({ token: "two" });
    writeFileSync(path, "three\n");
    await clock.advance(60_001);
    expect(await credentials.get()).toEqual({ token: "three" });
  });

  it.each([
    ["no current-context", JSON.stringify({ contexts: [] }), /no current-context/],
    ["a missing context", JSON.stringify({ "current-context": "x" }), /context "x" is not there/],
    ["a certificate without key", kubeconfig({ "client-certificate-data": base64("C") }), /must be given together/],
    ["a password", kubeconfig({ username: "a", password: "b" }), /not supported/],
    ["an auth-provider", kubeconfig({ "auth-provider": {} }), /exec plug-in/],
    ["no server", kubeconfig({}, {}), /no server/],
    ["something else", "[1, 2", /neither YAML nor JSON/],
    ["a missing key file", kubeconfig({ "client-key": "nope" }), /client-key "nope"/],
  ])("refuses %s and says why", async (_name, text, message) => {
    await expect(load(text)).rejects.toMatchObject({
      code: "KubeConfigInvalid",
      message: expect.stringMatching(message),
    });
  });

  it("says which file is missing", async () => {
    await expect(kubeconfigConnection("/nowhere/config", { clock })).rejects.toThrow(
      /read kubeconfig \/nowhere\/config/,
    );
  });
});

describe("credential programs", () => {
  function program(body: string): string {
    const path = file(`plugin-${counter++}`, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  }
  const exec = (command: string, more: object = {}) =>
    load(kubeconfig({ exec: { command, apiVersion: "client.authentication.k8s.io/v1", ...more } }));

  it("runs the program once until its credentials end", async () => {
    const count = join(directory, "count");
    const credential = `{"kind":"ExecCredential","status":{"token":"'$NAME'","expirationTimestamp":"2026-01-01T01:00:00Z"}}`;
    const path = program(`echo x >> ${count}; echo '${credential}'`);
    const { credentials } = await exec(path, { env: [{ name: "NAME", value: "bob" }] });
    const both = await Promise.all([credentials.get(), credentials.get()]);
    expect(both).toEqual([{ token: "bob" }, { token: "bob" }]);
    await credentials.get();
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(count, "utf8")).toBe("x\n");
    await clock.advance(3_600_000);
    await credentials.get();
    expect(readFileSync(count, "utf8")).toBe("x\nx\n");
  });

  it("tells the program about the cluster when it asks", async () => {
    const path = program(
      `echo "$KUBERNETES_EXEC_INFO" | grep -q '"server":"https://host:6443"' && echo '{"kind":"ExecCredential","status":{"token":"ok"}}'`,
    );
    const { credentials } = await exec(path, { provideClusterInfo: true });
    expect(await credentials.get()).toEqual({ token: "ok" });
  });

  it.each([
    ["fails", "echo no luck >&2; exit 3", /exit code 3: no luck \(install it\)/],
    ["prints nonsense", "echo hi", /did not print JSON/],
    ["prints no credentials", `echo '{"kind":"ExecCredential","status":{}}'`, /neither a token nor/],
  ])("says so when the program %s", async (_name, body, message) => {
    const { credentials } = await exec(program(body), { installHint: "install it" });
    await expect(credentials.get()).rejects.toMatchObject({
      code: "KubeCredentialPluginFailed",
      message: expect.stringMatching(message),
    });
  });

  it("says so when the program is missing", async () => {
    const { credentials } = await exec("/nowhere/plugin");
    await expect(credentials.get()).rejects.toThrow(/could not be started/);
  });
});

describe("inClusterConnection", () => {
  it("reads what the kubelet mounts", async () => {
    const serviceAccountDir = mkdtempSync(join(directory, "sa-"));
    for (const [name, content] of [
      ["ca.crt", "CA"],
      ["namespace", "kubevirt\n"],
      ["token", "t1\n"],
    ] as const) {
      writeFileSync(join(serviceAccountDir, name), content);
    }
    const connection = await inClusterConnection({ host: "fd00::1", port: "443", serviceAccountDir, clock });
    expect(connection).toMatchObject({
      server: "https://[fd00::1]:443",
      certificateAuthority: "CA",
      namespace: "kubevirt",
    });
    expect(await connection.credentials.get()).toEqual({ token: "t1" });
  });

  it("says what is missing", async () => {
    await expect(inClusterConnection({ host: "h", port: "1", serviceAccountDir: "/nowhere", clock })).rejects.toThrow(
      /no service account mounted/,
    );
  });
});
