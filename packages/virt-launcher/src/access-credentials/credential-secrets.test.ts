import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCredentialSecret } from "./credential-secrets.ts";

let folder: string;
let directory: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "credentials-"));
  directory = join(folder, "secret/keys-access-cred");
  mkdirSync(join(directory, "..v1"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("readCredentialSecret", () => {
  it("reads the values that the kubelet shows now", () => {
    writeFileSync(join(directory, "..v1/key1"), "one");
    symlinkSync("..v1", join(directory, "..data"));
    symlinkSync("..data/key1", join(directory, "key1"));
    expect(Object.fromEntries(readCredentialSecret({ private: folder }, "keys"))).toEqual({ key1: "one" });
  });

  it("names the secret that it cannot read", () => {
    expect(() => readCredentialSecret({ private: folder }, "other")).toThrow("read the secret other");
    writeFileSync(join(directory, "large"), "x".repeat(70_000));
    expect(() => readCredentialSecret({ private: folder }, "keys")).toThrow("read the secret keys");
  });
});
