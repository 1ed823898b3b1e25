import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import {
  createCertificateAuthority,
  isCertificateGood,
  issueCertificate,
  type CertificateRequest,
  type KeyedCertificate,
} from "@polyvirt/kube";

const leafDays = 365;
const renewDays = 30;

/** The keys and certificates of a cluster, kept in its data directory; what runs out soon is made anew at the start. */
export interface Pki {
  /** Signs the server's certificate and the clients'. */
  readonly authority: KeyedCertificate;
  readonly server: KeyedCertificate;
  readonly admin: KeyedCertificate;
  /** Signs what this server shows to aggregated API servers, so that they believe its X-Remote headers. */
  readonly frontProxyAuthority: KeyedCertificate;
  readonly frontProxyClient: KeyedCertificate;
  /** What this server shows to kubelets. */
  readonly kubeletClient: KeyedCertificate;
  /** Private key (PEM) that signs service account tokens. */
  readonly tokenKey: string;
  /** A client certificate for another component, for example `system:node:n1` of the group `system:nodes`. */
  issueClient(commonName: string, organizations: readonly string[]): KeyedCertificate;
}

/** `addresses` are those by which clients reach the server, beside the loopback. */
export function loadPki(directory: string, now: Date, addresses: readonly string[]): Pki {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const authority = loadPair(directory, "ca", () => createCertificateAuthority("polyvirt-ca", { now }));
  const frontProxyAuthority = loadPair(directory, "front-proxy-ca", () =>
    createCertificateAuthority("polyvirt-front-proxy-ca", { now }),
  );
  const leaf = (
    name: string,
    signer: KeyedCertificate,
    request: Omit<CertificateRequest, "days" | "now">,
  ): KeyedCertificate => {
    const make = () => issueCertificate(signer, { ...request, days: leafDays, now });
    const pair = loadPair(directory, name, make);
    if (isCertificateGood(pair, signer, { now, days: renewDays }) && carriesAddresses(pair, request)) return pair;
    const renewed = make();
    savePair(directory, name, renewed);
    return renewed;
  };
  return {
    authority,
    frontProxyAuthority,
    server: leaf("apiserver", authority, {
      commonName: "kube-apiserver",
      usage: "server",
      dnsNames: [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
      ],
      ipAddresses: [...new Set(["127.0.0.1", "::1", ...addresses])],
    }),
    admin: leaf("admin", authority, {
      commonName: "kubernetes-admin",
      organizations: ["system:masters"],
      usage: "client",
    }),
    frontProxyClient: leaf("front-proxy-client", frontProxyAuthority, {
      commonName: "front-proxy-client",
      usage: "client",
    }),
    kubeletClient: leaf("apiserver-kubelet-client", authority, {
      commonName: "kube-apiserver-kubelet-client",
      organizations: ["system:masters"],
      usage: "client",
    }),
    tokenKey: loadTokenKey(join(directory, "sa.key")),
    issueClient: (commonName, organizations) =>
      issueCertificate(authority, { commonName, organizations, usage: "client", days: leafDays, now }),
  };
}

/** A server that has got another address needs another certificate. */
function carriesAddresses(
  { certificate }: KeyedCertificate,
  { ipAddresses = [] }: Partial<CertificateRequest>,
): boolean {
  const parsed = new X509Certificate(certificate);
  return ipAddresses.every((address) => parsed.checkIP(address) !== undefined);
}

function loadPair(directory: string, name: string, make: () => KeyedCertificate): KeyedCertificate {
  const certificate = join(directory, `${name}.crt`);
  const key = join(directory, `${name}.key`);
  if (existsSync(certificate) && existsSync(key)) {
    return { certificate: readFileSync(certificate, "utf8"), key: readFileSync(key, "utf8") };
  }
  const pair = make();
  savePair(directory, name, pair);
  return pair;
}

function savePair(directory: string, name: string, pair: KeyedCertificate): void {
  // The key first: a certificate without its key would look complete.
  writeSecret(join(directory, `${name}.key`), pair.key);
  writeSecret(join(directory, `${name}.crt`), pair.certificate);
}

function loadTokenKey(path: string): string {
  if (existsSync(path)) return readFileSync(path, "utf8");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  writeSecret(path, pem);
  return pem;
}

/** Written beside and renamed, so that a crash leaves the old file or the new one; readable by the owner alone. */
export function writeSecret(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, path);
}
