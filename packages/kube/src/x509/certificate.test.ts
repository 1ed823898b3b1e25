import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createCertificateAuthority, isCertificateGood, issueCertificate } from "./certificate.ts";

const authority = createCertificateAuthority("polyvirt-test-ca");

describe("createCertificateAuthority", () => {
  it("signs itself and may sign others", () => {
    const certificate = new X509Certificate(authority.certificate);
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toBe("CN=polyvirt-test-ca");
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });
});

describe("issueCertificate", () => {
  const pair = issueCertificate(authority, {
    commonName: "system:node:n1",
    organizations: ["system:nodes", "extra"],
    dnsNames: ["virt-api.kubevirt.svc", "localhost"],
    ipAddresses: ["127.0.0.1", "::1", "2001:db8::10:0:1"],
    usage: "both",
    days: 30,
  });
  const certificate = new X509Certificate(pair.certificate);

  it("carries subject, names and usages", () => {
    expect(certificate.subject.split("\n")).toEqual(["O=system:nodes", "O=extra", "CN=system:node:n1"]);
    expect(certificate.checkHost("virt-api.kubevirt.svc")).toBe("virt-api.kubevirt.svc");
    expect(certificate.checkHost("other")).toBeUndefined();
    for (const address of ["127.0.0.1", "::1", "2001:db8::10:0:1"]) {
      expect(certificate.checkIP(address)).toBe(address);
    }
    // OIDs of server and client authentication.
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
    expect(certificate.ca).toBe(false);
  });

  it("is signed by the authority and matches its key", () => {
    const issuer = new X509Certificate(authority.certificate);
    expect(certificate.checkIssued(issuer)).toBe(true);
    expect(certificate.verify(issuer.publicKey)).toBe(true);
    expect(isCertificateGood(pair, authority, { now: new Date(), days: 10 })).toBe(true);
  });

  it.each([
    ["it ends too soon", pair, authority, 31],
    ["another authority signed it", pair, createCertificateAuthority("polyvirt-test-ca"), 1],
    ["the key is another one", { ...pair, key: authority.key }, authority, 1],
    ["it cannot be read", { ...pair, certificate: "nonsense" }, authority, 1],
  ])("is not good when %s", (_why, candidate, issuer, days) => {
    expect(isCertificateGood(candidate, issuer, { now: new Date(), days })).toBe(false);
  });

  it("writes dates beyond 2049 so that they are read back", () => {
    const late = issueCertificate(authority, { commonName: "late", usage: "client", days: 365 * 40 });
    const year = new Date(new X509Certificate(late.certificate).validTo).getUTCFullYear();
    expect(year).toBe(new Date(Date.now() + 365 * 40 * 86_400_000).getUTCFullYear());
  });
});
