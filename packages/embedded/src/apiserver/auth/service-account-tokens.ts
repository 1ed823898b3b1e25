import { createPrivateKey, createPublicKey, randomUUID, sign, verify, type KeyObject } from "node:crypto";

import type { Clock } from "@polyvirt/core";

import { RecentMap } from "../recent-map.ts";
import { authenticatedGroup, type UserInfo } from "./user.ts";

/** What a token says about its bearer; the same claims as Kubernetes' bound tokens. */
export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly jti: string;
  readonly "kubernetes.io": {
    readonly namespace: string;
    readonly serviceaccount: { readonly name: string; readonly uid: string };
    readonly pod?: { readonly name: string; readonly uid: string };
    readonly node?: { readonly name: string; readonly uid: string };
    readonly secret?: { readonly name: string; readonly uid: string };
  };
}

export const tokenIssuer = "https://kubernetes.default.svc.cluster.local";

export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly pod?: { readonly name: string; readonly uid: string };
  readonly node?: { readonly name: string; readonly uid: string };
  readonly secret?: { readonly name: string; readonly uid: string };
}

/** Looks up whether what a token is bound to still exists, with that very UID. */
export type StillExists = (plural: string, namespace: string, name: string, uid: string) => boolean;

const rememberedTokens = 1000;

export class ServiceAccountTokens {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #clock: Pick<Clock, "now">;
  readonly #exists: StillExists;
  /** Tokens whose signature is good, which stays so; clients send theirs with every request. */
  readonly #known = new RecentMap<string, TokenClaims>(rememberedTokens);

  constructor(privateKeyPem: string, clock: Pick<Clock, "now">, exists: StillExists) {
    this.#privateKey = createPrivateKey(privateKeyPem);
    this.#publicKey = createPublicKey(this.#privateKey);
    this.#clock = clock;
    this.#exists = exists;
  }

  issue(subject: TokenSubject, audiences: readonly string[], seconds: number): { token: string; expires: number } {
    const now = Math.floor(this.#clock.now() / 1000);
    const { namespace, name, uid, pod, node, secret } = subject;
    const claims: TokenClaims = {
      iss: tokenIssuer,
      sub: `system:serviceaccount:${namespace}:${name}`,
      aud: audiences.length === 0 ? [tokenIssuer] : audiences,
      iat: now,
      nbf: now,
      exp: now + seconds,
      jti: randomUUID(),
      "kubernetes.io": {
        namespace,
        serviceaccount: { name, uid },
        ...(pod === undefined ? {} : { pod }),
        ...(node === undefined ? {} : { node }),
        ...(secret === undefined ? {} : { secret }),
      },
    };
    const body = `${encode({ alg: "ES256", typ: "JWT" })}.${encode(claims)}`;
    const signature = sign("sha256", Buffer.from(body), { key: this.#privateKey, dsaEncoding: "ieee-p1363" });
    return { token: `${body}.${signature.toString("base64url")}`, expires: claims.exp * 1000 };
  }

  /** The bearer of a token, or why it is refused. */
  check(token: string, audience = tokenIssuer): UserInfo | string {
    const claims = this.#verified(token);
    if (claims === undefined) return "the token is not one of ours";
    const now = this.#clock.now() / 1000;
    if (claims.exp <= now) return "the token has expired";
    if (claims.nbf > now + 60) return "the token is not valid yet";
    if (!claims.aud.includes(audience)) return `the token is for other audiences: ${claims.aud.join(", ")}`;
    const { namespace, serviceaccount, pod, node, secret } = claims["kubernetes.io"];
    if (!this.#exists("serviceaccounts", namespace, serviceaccount.name, serviceaccount.uid)) {
      return "the token's service account is gone";
    }
    if (pod !== undefined && !this.#exists("pods", namespace, pod.name, pod.uid)) return "the token's pod is gone";
    if (secret !== undefined && !this.#exists("secrets", namespace, secret.name, secret.uid))
      return "the token's secret is gone";
    return {
      username: claims.sub,
      uid: serviceaccount.uid,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, authenticatedGroup],
      extra: {
        "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`],
        ...(pod === undefined
          ? {}
          : { "authentication.kubernetes.io/pod-name": [pod.name], "authentication.kubernetes.io/pod-uid": [pod.uid] }),
        ...(node === undefined
          ? {}
          : {
              "authentication.kubernetes.io/node-name": [node.name],
              "authentication.kubernetes.io/node-uid": [node.uid],
            }),
      },
    };
  }

  #verified(token: string): TokenClaims | undefined {
    const known = this.#known.get(token);
    if (known !== undefined) return known;
    const parts = token.split(".");
    const [header = "", payload = "", signature = ""] = parts;
    if (parts.length !== 3) return undefined;
    const good = verify(
      "sha256",
      Buffer.from(`${header}.${payload}`),
      { key: this.#publicKey, dsaEncoding: "ieee-p1363" },
      Buffer.from(signature, "base64url"),
    );
    if (!good) return undefined;
    // Signed by us, so the shape is what `issue` wrote.
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as TokenClaims;
    this.#known.set(token, claims);
    return claims;
  }
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
