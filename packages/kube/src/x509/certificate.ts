import { X509Certificate, createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import * as der from "./der.ts";

/** A certificate and its private key, as PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

export type CertificateUsage = "server" | "client" | "both";

export interface CertificateRequest {
  readonly commonName: string;
  /** Kubernetes reads them as groups. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usage: CertificateUsage;
  readonly days: number;
  /** When the validity begins; now unless a test says otherwise. */
  readonly now?: Date;
}

const oid = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  subjectAltName: "2.5.29.17",
  subjectKeyIdentifier: "2.5.29.14",
  authorityKeyIdentifier: "2.5.29.35",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

const usages: Readonly<Record<CertificateUsage, readonly string[]>> = {
  server: [oid.serverAuth],
  client: [oid.clientAuth],
  both: [oid.serverAuth, oid.clientAuth],
};

const DAY_MS = 24 * 60 * 60 * 1000;
/** Clocks of machines differ a little; a certificate must not be "not yet valid" on its first use. */
const BACKDATE_MS = 5 * 60 * 1000;

/** A self-signed authority that may sign end certificates only (path length 0). */
export function createCertificateAuthority(
  commonName: string,
  options: { days?: number; now?: Date } = {},
): KeyedCertificate {
  const keys = newKeys();
  const name = distinguishedName({ commonName });
  return build({
    issuer: name,
    subject: name,
    publicKey: keys.publicKey,
    signingKey: keys.key,
    key: keys.key,
    now: options.now ?? new Date(),
    days: options.days ?? 3650,
    extensions: [
      extension(oid.basicConstraints, true, der.sequence(der.boolean(true), der.integer(Buffer.from([0])))),
      // keyCertSign and cRLSign, with digitalSignature for its own use.
      extension(oid.keyUsage, true, der.bitString(Buffer.from([0x86]), 1)),
      extension(oid.subjectKeyIdentifier, false, der.octetString(keyIdentifier(keys.publicKey))),
    ],
  });
}

/** A certificate for a server or a client, signed by the authority. */
export function issueCertificate(authority: KeyedCertificate, request: CertificateRequest): KeyedCertificate {
  const keys = newKeys();
  const issuer = new X509Certificate(authority.certificate);
  const issuerKey = issuer.publicKey.export({ type: "spki", format: "der" });
  const names = [
    ...(request.dnsNames ?? []).map((name) => der.implicit(2, Buffer.from(name, "ascii"))),
    ...(request.ipAddresses ?? []).map((address) => der.implicit(7, addressBytes(address))),
  ];
  return build({
    issuer: subjectOf(issuer),
    subject: distinguishedName(request),
    publicKey: keys.publicKey,
    signingKey: authority.key,
    key: keys.key,
    now: request.now ?? new Date(),
    days: request.days,
    extensions: [
      extension(oid.basicConstraints, true, der.sequence()),
      extension(oid.keyUsage, true, der.bitString(Buffer.from([0x80]), 7)),
      extension(oid.extendedKeyUsage, false, der.sequence(...usages[request.usage].map(der.objectIdentifier))),
      extension(oid.subjectKeyIdentifier, false, der.octetString(keyIdentifier(keys.publicKey))),
      extension(oid.authorityKeyIdentifier, false, der.sequence(der.implicit(0, keyIdentifier(issuerKey)))),
      ...(names.length === 0 ? [] : [extension(oid.subjectAltName, false, der.sequence(...names))]),
    ],
  });
}

interface Blueprint {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly signingKey: string;
  readonly key: string;
  readonly now: Date;
  readonly days: number;
  readonly extensions: readonly Buffer[];
}

function build(blueprint: Blueprint): KeyedCertificate {
  const algorithm = der.sequence(der.objectIdentifier(oid.ecdsaWithSha256));
  const from = new Date(blueprint.now.getTime() - BACKDATE_MS);
  const until = new Date(blueprint.now.getTime() + blueprint.days * DAY_MS);
  const content = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(serialNumber()),
    algorithm,
    blueprint.issuer,
    der.sequence(der.time(from), der.time(until)),
    blueprint.subject,
    blueprint.publicKey,
    der.explicit(3, der.sequence(...blueprint.extensions)),
  );
  const signature = sign("sha256", content, blueprint.signingKey);
  const certificate = der.pem("CERTIFICATE", der.sequence(content, algorithm, der.bitString(signature)));
  return { certificate, key: blueprint.key };
}

/** 159 random bits: positive and within the 20 bytes that are allowed. */
function serialNumber(): Buffer {
  const bytes = randomBytes(20);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function newKeys(): { publicKey: Buffer; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    publicKey: publicKey.export({ type: "spki", format: "der" }),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function distinguishedName(name: { commonName: string; organizations?: readonly string[] }): Buffer {
  const attribute = (type: string, value: string) =>
    der.set(der.sequence(der.objectIdentifier(type), der.utf8String(value)));
  return der.sequence(
    ...(name.organizations ?? []).map((organization) => attribute(oid.organization, organization)),
    attribute(oid.commonName, name.commonName),
  );
}

/** Our authorities have a common name only, so their subject can be written again byte by byte. */
function subjectOf(certificate: X509Certificate): Buffer {
  const commonName = /^CN=(.*)$/m.exec(certificate.subject)?.[1];
  return distinguishedName({ commonName: commonName ?? "" });
}

function extension(type: string, critical: boolean, value: Buffer): Buffer {
  return der.sequence(der.objectIdentifier(type), ...(critical ? [der.boolean(true)] : []), der.octetString(value));
}

function keyIdentifier(spki: Buffer): Buffer {
  // For P-256 the last 65 bytes of the SubjectPublicKeyInfo are the point itself, which the identifier hashes.
  return createHash("sha1").update(spki.subarray(-65)).digest();
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  if (!isIPv6(address)) throw new TypeError(`"${address}" is not an IP address`);
  const [head = "", tail] = address.split("::");
  const words = (text: string) => (text === "" ? [] : text.split(":"));
  const left = words(head);
  const right = words(tail ?? "");
  const middle = Array.from({ length: tail === undefined ? 0 : 8 - left.length - right.length }, () => "0");
  const bytes = Buffer.alloc(16);
  [...left, ...middle, ...right].forEach((word, index) => bytes.writeUInt16BE(Number.parseInt(word, 16), index * 2));
  return bytes;
}

/** Whether the certificate can still be used for `days` more days and was signed by this authority. */
export function isCertificateGood(
  pair: KeyedCertificate,
  authority: Pick<KeyedCertificate, "certificate">,
  options: { now: Date; days: number },
): boolean {
  try {
    const certificate = new X509Certificate(pair.certificate);
    const issuer = new X509Certificate(authority.certificate);
    const until = Date.parse(certificate.validTo);
    const own = createPublicKey(pair.key).export({ type: "spki", format: "der" });
    return (
      until - options.now.getTime() >= options.days * DAY_MS &&
      certificate.verify(issuer.publicKey) &&
      own.equals(certificate.publicKey.export({ type: "spki", format: "der" }))
    );
  } catch {
    // Anything unreadable is not good; the caller issues a new one.
    return false;
  }
}
