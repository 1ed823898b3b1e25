import { X509Certificate } from "node:crypto";
import { parseDuration } from "@polyvirt/core";
import { certificateMounts, handlerClientName, handlerServerName, virtApiService } from "@polyvirt/api";
import type { KubeVirt } from "@polyvirt/api";
import type { ConfigMap, Secret } from "@polyvirt/api/k8s";
import {
  createCertificateAuthority,
  isCertificateGood,
  issueCertificate,
  type CertificateUsage,
  type KeyedCertificate,
} from "@polyvirt/kube";
import { ownMetadata, type Installation } from "./installation.ts";

const authorityName = "kubevirt-ca";

interface LeafSpecification {
  readonly secret: string;
  readonly usage: CertificateUsage;
  commonName(namespace: string): string;
  dnsNames(namespace: string): string[];
}

/** The certificates that roles show to each other. */
const leaves: readonly LeafSpecification[] = [
  {
    secret: certificateMounts.virtApi.secret,
    usage: "server",
    commonName: (namespace) => `${virtApiService}.${namespace}.svc`,
    dnsNames: (namespace) => [
      `${virtApiService}.${namespace}.svc`,
      `${virtApiService}.${namespace}.svc.cluster.local`,
      virtApiService,
    ],
  },
  {
    secret: certificateMounts.virtHandlerServer.secret,
    usage: "server",
    commonName: () => handlerServerName,
    dnsNames: () => [handlerServerName],
  },
  {
    secret: certificateMounts.virtHandlerClient.secret,
    usage: "client",
    commonName: () => handlerClientName,
    dnsNames: () => [],
  },
];

export const certificateSecrets: readonly string[] = [authorityName, ...leaves.map(({ secret }) => secret)];

/** How long certificates live and how long before their end they are replaced, in days. */
export interface RotationPolicy {
  readonly authority: { readonly days: number; readonly renewBeforeDays: number };
  readonly leaf: { readonly days: number; readonly renewBeforeDays: number };
}

const DAY_MS = 24 * 60 * 60 * 1000;

export function readRotationPolicy(kubevirt: Pick<KubeVirt, "spec">): RotationPolicy {
  const { ca, server, caRotateInterval, certRotateInterval } =
    kubevirt.spec.certificateRotateStrategy?.selfSigned ?? {};
  const period = (
    duration: string | undefined,
    renewBefore: string | undefined,
    fallbackDays: number,
  ): { days: number; renewBeforeDays: number } => {
    const days = duration === undefined ? fallbackDays : parseDuration(duration) / DAY_MS;
    return { days, renewBeforeDays: renewBefore === undefined ? days / 5 : parseDuration(renewBefore) / DAY_MS };
  };
  return {
    authority: period(ca?.duration ?? caRotateInterval, ca?.renewBefore, 365),
    leaf: period(server?.duration ?? certRotateInterval, server?.renewBefore, 90),
  };
}

export interface CertificatePlan {
  readonly objects: (Secret | ConfigMap)[];
  /** Every authority that is still to be trusted, newest first, as PEM. */
  readonly caBundle: string;
  /** When the next certificate is due. */
  readonly renewAtMs: number;
}

/**
 * The secrets as they should be: what is good stays as it is, the rest is issued anew. A replaced authority stays in the
 * bundle until it ends, so that certificates which it signed are accepted while they are being replaced.
 */
export function planCertificates(
  installation: Installation,
  existing: ReadonlyMap<string, Secret>,
  policy: RotationPolicy,
  nowMs: number,
): CertificatePlan {
  const now = new Date(nowMs);
  const old = readPair(existing.get(authorityName));
  const keepAuthority =
    old !== undefined && isCertificateGood(old, old, { now, days: policy.authority.renewBeforeDays });
  const authority = keepAuthority
    ? old
    : createCertificateAuthority("kubevirt.io", { days: policy.authority.days, now });
  const caBundle = mergeBundle(authority.certificate, readKey(existing.get(authorityName), "ca.crt"), nowMs);

  const pairs = leaves.map((leaf): [LeafSpecification, KeyedCertificate] => {
    const current = readPair(existing.get(leaf.secret));
    const good =
      current !== undefined && isCertificateGood(current, authority, { now, days: policy.leaf.renewBeforeDays });
    if (good) return [leaf, current];
    return [
      leaf,
      issueCertificate(authority, {
        commonName: leaf.commonName(installation.namespace),
        dnsNames: leaf.dnsNames(installation.namespace),
        usage: leaf.usage,
        days: policy.leaf.days,
        now,
      }),
    ];
  });

  const renewals = [
    endOf(authority) - policy.authority.renewBeforeDays * DAY_MS,
    ...pairs.map(([, pair]) => endOf(pair) - policy.leaf.renewBeforeDays * DAY_MS),
  ];
  return {
    objects: [
      secretOf(installation, authorityName, authority, caBundle),
      ...pairs.map(([leaf, pair]) => secretOf(installation, leaf.secret, pair, caBundle)),
      bundleOf(installation, caBundle),
    ],
    caBundle,
    renewAtMs: Math.min(...renewals),
  };
}

function secretOf(installation: Installation, name: string, pair: KeyedCertificate, caBundle: string): Secret {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: ownMetadata(installation, name, installation.namespace),
    type: "kubernetes.io/tls",
    data: { "tls.crt": encode(pair.certificate), "tls.key": encode(pair.key), "ca.crt": encode(caBundle) },
  };
}

/** The bundle where people and other tools look for it: it holds no secret. */
function bundleOf(installation: Installation, caBundle: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: ownMetadata(installation, authorityName, installation.namespace),
    data: { "ca-bundle": caBundle },
  };
}

function mergeBundle(newest: string, previous: string | undefined, nowMs: number): string {
  const older = (previous?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [])
    .map((pem) => `${pem.trimEnd()}\n`)
    .filter((pem) => pem !== newest && isCurrent(pem, nowMs));
  return [newest, ...older].join("");
}

function isCurrent(pem: string, nowMs: number): boolean {
  try {
    return Date.parse(new X509Certificate(pem).validTo) > nowMs;
  } catch {
    // What cannot be read cannot be trusted either.
    return false;
  }
}

function endOf(pair: KeyedCertificate): number {
  return Date.parse(new X509Certificate(pair.certificate).validTo);
}

function readPair(secret: Secret | undefined): KeyedCertificate | undefined {
  const certificate = readKey(secret, "tls.crt");
  const key = readKey(secret, "tls.key");
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

function readKey(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString();
}
