/** Pulling from a real registry (Debian's docker-registry) what a real client (skopeo) put there, and reading its archives. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificateAuthority, issueCertificate } from "@polyvirt/kube";
import type { Secret } from "@polyvirt/api/k8s";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createImageVolumes, type ImageRequest } from "./image-volumes.ts";
import { importImages } from "./import-images.ts";
import { openOciStore, type OciStore } from "./oci-store.ts";
import { openRegistries } from "./registry/registries.ts";

const missing = ["docker-registry", "skopeo"].filter((program) => !existsSync(join("/usr/bin", program)));
const skipped = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")} not installed)`;

const amd64 = { os: "linux", architecture: "amd64" };
const arm64 = { os: "linux", architecture: "arm64" };

describe.skipIf(missing.length > 0)(`a real registry${skipped}`, () => {
  let folder: string;
  let port: number;
  let registry: ChildProcess;
  let host: string;
  let source: OciStore;
  /** bcrypt of "secret", so that no other program is needed to make it. */
  const passwordFile = "ann:$2b$05$qwobYvAaTzivLtvHQ1qJCew0cXYxoCj5LIV7LPA.3i7m1x0b/YpO6\n";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "registry-"));
    port = await freePort();
    host = `127.0.0.1:${port}`;
    await writeCertificates(folder);
    await writeFile(join(folder, "htpasswd"), passwordFile);
    await writeFile(join(folder, "registry.yml"), registryConfiguration(folder, port));
    registry = spawn("docker-registry", ["serve", join(folder, "registry.yml")], { stdio: "ignore" });
    await waitForPort(port);
    source = openOciStore(join(folder, "source"));
    const content = (text: string) => [{ path: "disk/disk.img", content: Buffer.from(text) }];
    await source.add(["example.test/disk:1"], content("for amd64"), amd64);
    await source.add(["example.test/disk:1"], content("for arm64"), arm64);
    await source.add(["example.test/single:1"], content("for one"), amd64);
    await pushIndex();
  }, 60_000);

  afterAll(async () => {
    registry.kill();
    await rm(folder, { recursive: true });
  });

  /** Both images under one name, as an index. */
  async function pushIndex(): Promise<void> {
    const layout = join(folder, "index-layout");
    execFileSync("cp", ["-r", join(folder, "source"), layout]);
    const { manifests } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8"));
    const named = (name: string) =>
      manifests.filter((item: { annotations: Record<string, string> }) =>
        Object.values(item.annotations).includes(name),
      );
    const type = "application/vnd.oci.image.index.v1+json";
    const index = Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType: type, manifests: named("example.test/disk:1") }),
    );
    const { descriptor } = await put(layout, type, index);
    const top = {
      schemaVersion: 2,
      manifests: [{ ...descriptor, annotations: { "org.opencontainers.image.ref.name": "multi" } }],
    };
    await writeFile(join(layout, "index.json"), JSON.stringify(top));
    const copy = ["copy", "--all", "--dest-cert-dir", join(folder, "certs"), "--dest-creds", "ann:secret"];
    execFileSync("skopeo", [...copy, `oci:${layout}:multi`, `docker://${host}/team/disk:1`], { stdio: "pipe" });
    const single = {
      schemaVersion: 2,
      manifests: [
        { ...named("example.test/single:1")[0], annotations: { "org.opencontainers.image.ref.name": "one" } },
      ],
    };
    await writeFile(join(layout, "index.json"), JSON.stringify(single));
    execFileSync("skopeo", [...copy, "--format", "v2s2", `oci:${layout}:one`, `docker://${host}/team/single:1`], {
      stdio: "pipe",
    });
  }

  async function put(layout: string, mediaType: string, bytes: Buffer) {
    const store = openOciStore(layout);
    return { descriptor: await store.put(mediaType, bytes) };
  }

  async function volumes(settings: object, into = "pulled") {
    const file = join(folder, `registries-${into}.json`);
    await writeFile(file, JSON.stringify({ registries: settings }));
    const store = openOciStore(join(folder, into));
    return createImageVolumes({ store, platform: amd64, registries: openRegistries(file) });
  }

  const secrets = async (): Promise<Secret[]> => {
    const auths = { [host]: { username: "ann", password: "secret" } };
    const data = { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") };
    return [{ apiVersion: "v1", kind: "Secret", metadata: { name: "pull" }, data }];
  };
  const request = (name: string, rest: Partial<ImageRequest> = {}): ImageRequest => ({
    reference: `${host}/team/${name}`,
    platform: undefined,
    pullPolicy: "IfNotPresent",
    pullSecrets: secrets,
    ...rest,
  });
  const diskOf = (directory: string): string => readFileSync(join(directory, "disk/disk.img"), "utf8");
  const trusted = () => ({ [host]: { ca: join(folder, "certs/ca.crt") } });

  it("chooses the guest's architecture from an index, with the pod's credentials, and tells what it does", async () => {
    const told: string[] = [];
    const pulled = await volumes(trusted());
    const tell = (reason: string): void => void told.push(reason);
    expect(diskOf(await pulled.directoryOf(request("disk:1", { tell })))).toBe("for amd64");
    expect(diskOf(await pulled.directoryOf(request("disk:1", { tell, platform: arm64 })))).toBe("for arm64");
    expect(diskOf(await pulled.directoryOf(request("disk:1", { tell })))).toBe("for amd64");
    // The third was there.
    expect(told).toEqual(["Pulling", "Pulled", "Pulling", "Pulled"]);
    const s390x = { os: "linux", architecture: "s390x" };
    await expect(pulled.directoryOf(request("disk:1", { platform: s390x }))).rejects.toThrow(
      "it is there for linux/amd64, linux/arm64",
    );
  });

  it("reads Docker's own manifests, and images by their digest", async () => {
    const pulled = await volumes(trusted());
    expect(diskOf(await pulled.directoryOf(request("single:1")))).toBe("for one");
    const inspect = [
      "inspect",
      "--cert-dir",
      join(folder, "certs"),
      "--creds",
      "ann:secret",
      `docker://${host}/team/single:1`,
    ];
    const { Digest } = JSON.parse(execFileSync("skopeo", inspect, { encoding: "utf8" }));
    const fresh = await volumes(trusted(), "by-digest");
    expect(diskOf(await fresh.directoryOf(request(`single@${Digest}`)))).toBe("for one");
  });

  it("refuses an image by itself for another architecture, and says for which it is", async () => {
    const pulled = await volumes(trusted(), "foreign");
    await expect(pulled.directoryOf(request("single:1", { platform: arm64 }))).rejects.toThrow(
      `pull ${host}/team/single:1 for linux/arm64: it is there for linux/amd64`,
    );
    expect(diskOf(await pulled.directoryOf(request("single:1")))).toBe("for one");
    // What is there for one is not there for all.
    await expect(pulled.directoryOf(request("single:1", { platform: arm64 }))).rejects.toMatchObject({
      code: "ImagePlatformMissing",
    });
  });

  it.each([
    ["without credentials", "single:1", { pullSecrets: async () => [] }, "ImageAccessDenied"],
    ["that is not there", "nothing:1", {}, "ImageUnknown"],
  ])("refuses an image %s, with the reason", async (_name, image, rest, code) => {
    const pulled = await volumes(trusted(), "refused");
    await expect(pulled.directoryOf(request(image, rest))).rejects.toMatchObject({ code });
  });

  it("trusts no certificate that the settings do not vouch for, unless they say so", async () => {
    const strict = await volumes({}, "strict");
    await expect(strict.directoryOf(request("single:1"))).rejects.toMatchObject({ code: "ImageRegistryFailed" });
    const lax = await volumes({ [host]: { insecure: true } }, "lax");
    expect(diskOf(await lax.directoryOf(request("single:1")))).toBe("for one");
  });

  it("asks mirrors first and the registry itself when they fail", async () => {
    const asked: string[] = [];
    const mirror = createServer((incoming, answer) => {
      asked.push(incoming.url ?? "");
      answer.writeHead(500).end();
    });
    await new Promise<void>((done) => mirror.listen(0, "127.0.0.1", done));
    // It listens on a port, so it has an address of this kind.
    const mirrorHost = `127.0.0.1:${(mirror.address() as AddressInfo).port}`;
    const settings = { ...trusted(), [mirrorHost]: { insecure: true } };
    const withMirror = { ...settings, [host]: { ...trusted()[host], mirrors: [`${mirrorHost}/proxy`] } };
    const pulled = await volumes(withMirror, "mirrored");
    expect(diskOf(await pulled.directoryOf(request("single:1")))).toBe("for one");
    expect(asked).toContain("/v2/proxy/team/single/manifests/1");
    mirror.close();
  });

  it("refuses a layer whose bytes are not what the manifest promises", async () => {
    const lying = createServer((incoming, answer) => {
      const manifest = {
        schemaVersion: 2,
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        config: { mediaType: "x", digest: `sha256:${"0".repeat(64)}`, size: 4 },
        layers: [],
      };
      answer.setHeader("content-type", manifest.mediaType);
      answer.end(incoming.url?.includes("/manifests/") === true ? JSON.stringify(manifest) : "lies");
    });
    await new Promise<void>((done) => lying.listen(0, "127.0.0.1", done));
    const lyingHost = `127.0.0.1:${(lying.address() as AddressInfo).port}`;
    const pulled = await volumes({ [lyingHost]: { insecure: true } }, "lied-to");
    const wanted = request("x", { reference: `${lyingHost}/disk:1` });
    await expect(pulled.directoryOf(wanted)).rejects.toMatchObject({ code: "ImageCorrupt" });
    lying.close();
  });

  it("follows a token challenge with the credentials, and uses the token", async () => {
    const seen: string[] = [];
    const guarded = createServer((incoming, answer) => {
      const url = new URL(incoming.url ?? "", "http://x");
      const authorization = incoming.headers.authorization ?? "none";
      seen.push(`${url.pathname}${url.search} ${authorization.split(" ")[0]}`);
      if (url.pathname === "/token") return void answer.end('{"token":"t"}');
      if (authorization !== "Bearer t") {
        const realm = `http://${incoming.headers.host}/token`;
        answer.writeHead(401, {
          "www-authenticate": `Bearer realm="${realm}",service="s",scope="repository:disk:pull"`,
        });
        return void answer.end();
      }
      answer.writeHead(404).end();
    });
    await new Promise<void>((done) => guarded.listen(0, "127.0.0.1", done));
    const guardedHost = `127.0.0.1:${(guarded.address() as AddressInfo).port}`;
    const pulled = await volumes({ [guardedHost]: { insecure: true, username: "ann", password: "secret" } }, "guarded");
    const wanted = request("x", { reference: `${guardedHost}/disk:1` });
    await expect(pulled.directoryOf(wanted)).rejects.toMatchObject({ code: "ImageUnknown" });
    expect(seen).toEqual([
      "/v2/disk/manifests/1 none",
      "/token?service=s&scope=repository%3Adisk%3Apull Basic",
      "/v2/disk/manifests/1 Bearer",
    ]);
    guarded.close();
  });

  it.each(["oci-archive", "docker-archive", "oci"])("reads what skopeo writes as %s", async (kind) => {
    const target = join(folder, `${kind}.out`);
    const from = ["copy", "--src-cert-dir", join(folder, "certs"), "--src-creds", "ann:secret"];
    const name = kind === "oci" ? "" : ":example.test/read:1";
    execFileSync("skopeo", [...from, `docker://${host}/team/single:1`, `${kind}:${target}${name}`], { stdio: "pipe" });
    const store = openOciStore(join(folder, `store-${kind}`));
    const reference = kind === "docker-archive" ? undefined : "example.test/read:1";
    expect(await importImages(target, store, { reference })).toEqual(["example.test/read:1"]);
    expect(diskOf(await store.unpack(await store.resolve("example.test/read:1", amd64)))).toBe("for one");
  });

  it("refuses a folder that holds no images", async () => {
    await mkdir(join(folder, "empty"));
    const store = openOciStore(join(folder, "none"));
    await expect(importImages(join(folder, "empty"), store, { reference: "a:1" })).rejects.toMatchObject({
      code: "ImageArchiveUnknown",
    });
  });
});

async function writeCertificates(folder: string): Promise<void> {
  const authority = createCertificateAuthority("registry test");
  const certificate = issueCertificate(authority, {
    commonName: "registry",
    dnsNames: [],
    ipAddresses: ["127.0.0.1"],
    usage: "server",
    days: 1,
  });
  await mkdir(join(folder, "certs"));
  await writeFile(join(folder, "certs/ca.crt"), authority.certificate);
  await writeFile(join(folder, "tls.crt"), certificate.certificate);
  await writeFile(join(folder, "tls.key"), certificate.key);
}

function registryConfiguration(folder: string, port: number): string {
  return `version: 0.1
log: { level: error }
storage: { filesystem: { rootdirectory: ${join(folder, "data")} } }
http:
  addr: 127.0.0.1:${port}
  tls: { certificate: ${join(folder, "tls.crt")}, key: ${join(folder, "tls.key")} }
auth: { htpasswd: { realm: test, path: ${join(folder, "htpasswd")} } }
`;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createTcpServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function waitForPort(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.unref();
    });
    if (open) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error("the registry does not start");
}
