import type { KubeObject, ResourceType } from "./meta.ts";

export interface UserInfo {
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

export interface TokenReview extends KubeObject {
  spec: { token?: string; audiences?: string[] };
  status?: { authenticated?: boolean; user?: UserInfo; audiences?: string[]; error?: string };
}

/** Body and answer of the `serviceaccounts/token` subresource. */
export interface TokenRequest extends KubeObject {
  spec: {
    audiences?: string[];
    expirationSeconds?: number;
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string };
  };
  status?: { token: string; expirationTimestamp: string };
}

export interface SelfSubjectReview extends KubeObject {
  status?: { userInfo?: UserInfo };
}

const authentication = { group: "authentication.k8s.io", version: "v1" } as const;

export const tokenReviews: ResourceType<TokenReview> = {
  ...authentication,
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
};
export const selfSubjectReviews: ResourceType<SelfSubjectReview> = {
  ...authentication,
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  namespaced: false,
};
