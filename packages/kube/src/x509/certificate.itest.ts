import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createCertificateAuthority, issueCertificate } from "./certificate.ts";

const directory = mkdtempSync(join(tmpdir(), "polyvirt-x509-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const openssl = (...args: string[]): string => execFileSync("openssl", args, { encoding: "utf8", stdio: "pipe" });

describe("certificates as OpenSSL sees them", () => {
  const authority = createCertificateAuthority("polyvirt-ca");
  const ca = file("ca.crt", authority.certificate);

  it.each(["server", "client"] as const)("verifies a %s certificate for its purpose, strictly", (usage) => {
    const pair = issueCertificate(authority, {
      commonName: "virt-api",
      organizations: ["system:masters"],
      dnsNames: ["virt-api.kubevirt.svc"],
      ipAddresses: ["127.0.0.1", "::1"],
      usage,
      days: 365,
    });
    const path = file(`${usage}.crt`, pair.certificate);
    const key = file(`${usage}.key`, pair.key);
    expect(openssl("verify", "-x509_strict", "-purpose", `ssl${usage}`, "-CAfile", ca, path)).toContain("OK");
    expect(openssl("x509", "-in", path, "-noout", "-pubkey")).toBe(openssl("pkey", "-in", key, "-pubout"));
    const text = openssl("x509", "-in", path, "-noout", "-text");
    expect(text).toContain("DNS:virt-api.kubevirt.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    const other = usage === "server" ? "client" : "server";
    expect(() => openssl("verify", "-purpose", `ssl${other}`, "-CAfile", ca, path)).toThrow(/unsupported|purpose/);
  });

  it("does not let an end certificate sign others", () => {
    const pair = issueCertificate(authority, { commonName: "end", usage: "both", days: 1 });
    const forged = issueCertificate(pair, { commonName: "forged", usage: "both", days: 1 });
    const chain = file("end.crt", pair.certificate);
    const path = file("forged.crt", forged.certificate);
    expect(() => openssl("verify", "-CAfile", ca, "-untrusted", chain, path)).toThrow(/invalid CA|verification failed/);
  });
});
