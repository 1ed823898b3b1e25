import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { KubeVirt } from "@polyvirt/api";
import type { KubeObject, Secret } from "@polyvirt/api/k8s";
import { planCertificates, readRotationPolicy, type CertificatePlan } from "./certificates.ts";
import { registry } from "@polyvirt/hypervisor";
import { readInstallation } from "./installation.ts";
import { defaultKubeVirt } from "./manifest.ts";

const images = { virtApi: "r/a:1", virtController: "r/c:1", virtHandler: "r/h:1", virtLauncher: "r/l:1" };
const installation = readInstallation(defaultKubeVirt(), { version: "1", hypervisors: registry, images });
const start = Date.parse("2026-01-01T00:00:00Z");
const days = (count: number): number => count * 24 * 60 * 60 * 1000;
const policy = readRotationPolicy(defaultKubeVirt());

const isSecret = (object: KubeObject): object is Secret => object.kind === "Secret";
const secretsOf = (plan: CertificatePlan): Map<string, Secret> =>
  new Map(plan.objects.filter(isSecret).map((secret) => [secret.metadata.name ?? "", secret]));
const decode = (plan: CertificatePlan, name: string, key: string): string =>
  Buffer.from(secretsOf(plan).get(name)?.data?.[key] ?? "", "base64").toString();
const certificate = (plan: CertificatePlan, name: string) => new X509Certificate(decode(plan, name, "tls.crt"));
const countOf = (bundle: string): number => bundle.match(/BEGIN CERTIFICATE/g)?.length ?? 0;

describe("planCertificates", () => {
  const first = planCertificates(installation, new Map(), policy, start);

  it("issues each certificate for its use, from one authority", () => {
    const authority = certificate(first, "kubevirt-ca");
    const api = certificate(first, "kubevirt-virt-api-certs");
    expect(api.checkIssued(authority) && api.verify(authority.publicKey)).toBe(true);
    expect(api.checkHost("virt-api.kubevirt.svc")).toBeDefined();
    expect(certificate(first, "kubevirt-virt-handler-server-certs").checkHost("virt-handler")).toBeDefined();
    expect(certificate(first, "kubevirt-virt-handler-certs").subject).toBe("CN=kubevirt.io:system:client:virt-handler");
    expect(decode(first, "kubevirt-virt-api-certs", "ca.crt")).toBe(first.caBundle);
  });

  it("keeps what is good", () => {
    expect(planCertificates(installation, secretsOf(first), policy, start + days(1))).toEqual(first);
  });

  it("replaces what ends soon, signed by the same authority", () => {
    const later = planCertificates(installation, secretsOf(first), policy, start + days(73));
    expect(later.caBundle).toBe(first.caBundle);
    const { validFrom } = certificate(later, "kubevirt-virt-api-certs");
    expect(Date.parse(validFrom)).toBeGreaterThan(start + days(72));
  });

  it("trusts an authority that is being replaced until it ends", () => {
    const rotated = planCertificates(installation, secretsOf(first), policy, start + days(300));
    expect(countOf(rotated.caBundle)).toBe(2);
    const api = certificate(rotated, "kubevirt-virt-api-certs");
    expect(api.verify(certificate(rotated, "kubevirt-ca").publicKey)).toBe(true);
    const later = planCertificates(installation, secretsOf(rotated), policy, start + days(366));
    expect(countOf(later.caBundle)).toBe(1);
    expect(later.caBundle).toBe(decode(rotated, "kubevirt-ca", "tls.crt"));
  });

  it("issues anew what it cannot read", () => {
    const secrets = secretsOf(first);
    const broken = { "tls.crt": "bm9uc2Vuc2U=", "tls.key": "bm9uc2Vuc2U=", "ca.crt": "bm9uc2Vuc2U=" };
    for (const [name, secret] of secrets) secrets.set(name, { ...secret, data: broken });
    const repaired = planCertificates(installation, secrets, policy, start);
    expect(countOf(repaired.caBundle)).toBe(1);
  });

  it("says when the next one is due", () => {
    expect(first.renewAtMs).toBe(start + days(72));
  });
});

describe("readRotationPolicy", () => {
  it.each([
    ["nothing", {}, { days: 90, renewBeforeDays: 18 }],
    ["a duration", { server: { duration: "48h" } }, { days: 2, renewBeforeDays: 0.4 }],
    ["both", { server: { duration: "48h", renewBefore: "24h" } }, { days: 2, renewBeforeDays: 1 }],
    ["the older field", { certRotateInterval: "240h" }, { days: 10, renewBeforeDays: 2 }],
  ])("reads %s", (_what, selfSigned, leaf) => {
    const kubevirt: Pick<KubeVirt, "spec"> = { spec: { certificateRotateStrategy: { selfSigned } } };
    expect(readRotationPolicy(kubevirt).leaf).toEqual(leaf);
  });
});
