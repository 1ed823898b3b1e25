import { describe, expect, it } from "vitest";
import { parseChallenge } from "./challenge.ts";
import { pullCredentials } from "./pull-secret.ts";
import { parseRegistryReference } from "./registry-reference.ts";

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");
const secret = (auths: object) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s" },
  data: { ".dockerconfigjson": encode({ auths }) },
});
const auth = Buffer.from("ann:p:w").toString("base64");

describe("pullCredentials", () => {
  it("reads Docker's configuration, with colons in the password", () => {
    expect(pullCredentials([secret({ "example.org": { auth } })], "example.org", "team/disk")).toEqual({
      username: "ann",
      password: "p:w",
    });
  });

  it("prefers the entry that names the repository more closely", () => {
    const secrets = [
      secret({
        "example.org": { username: "all", password: "1" },
        "example.org/team": { username: "team", password: "2" },
      }),
    ];
    expect(pullCredentials(secrets, "example.org", "team/disk")?.username).toBe("team");
    expect(pullCredentials(secrets, "example.org", "teamwork/disk")?.username).toBe("all");
  });

  it("knows Docker Hub by its old names", () => {
    const secrets = [secret({ "https://index.docker.io/v1/": { auth } })];
    expect(pullCredentials(secrets, "docker.io", "library/disk")?.username).toBe("ann");
  });

  it("gives nothing to another registry, and skips what it cannot read", () => {
    const broken = { ...secret({}), data: { ".dockerconfigjson": "bm90IGpzb24=" } };
    expect(pullCredentials([broken, secret({ "example.org": { auth } })], "example.com", "disk")).toBeUndefined();
  });
});

describe("parseRegistryReference", () => {
  it.each([
    ["disk", "docker.io", "library/disk", "latest"],
    ["team/disk:2", "docker.io", "team/disk", "2"],
    ["example.org:5000/a/b:2", "example.org:5000", "a/b", "2"],
    ["localhost/a", "localhost", "a", "latest"],
    [`example.org/a:2@sha256:${"1".repeat(64)}`, "example.org", "a", `sha256:${"1".repeat(64)}`],
  ])("takes %s apart", (reference, registry, repository, version) => {
    expect(parseRegistryReference(reference)).toMatchObject({ registry, repository, version });
  });
});

describe("parseChallenge", () => {
  it("reads where to get a token, and for what", () => {
    const header = 'Bearer realm="https://auth.example.org/token",service="r",scope="repository:a:pull"';
    expect(parseChallenge(header)).toEqual({
      scheme: "bearer",
      realm: "https://auth.example.org/token",
      parameters: { service: "r", scope: "repository:a:pull" },
    });
  });

  it("knows basic and nothing else", () => {
    expect(parseChallenge("Basic realm=x")).toEqual({ scheme: "basic" });
    expect(parseChallenge("Negotiate abc")).toBeUndefined();
    expect(parseChallenge(undefined)).toBeUndefined();
  });
});
