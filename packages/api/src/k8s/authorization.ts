import type { PolicyRule } from "./rbac.ts";
import type { KubeObject, ResourceType } from "./meta.ts";

export interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
}

export interface NonResourceAttributes {
  path?: string;
  verb?: string;
}

export interface AccessReviewStatus {
  allowed: boolean;
  denied?: boolean;
  reason?: string;
  evaluationError?: string;
}

export interface SelfSubjectAccessReview extends KubeObject {
  spec: { resourceAttributes?: ResourceAttributes; nonResourceAttributes?: NonResourceAttributes };
  status?: AccessReviewStatus;
}

export interface SubjectAccessReview extends KubeObject {
  spec: SelfSubjectAccessReview["spec"] & {
    user?: string;
    groups?: string[];
    uid?: string;
    extra?: Record<string, string[]>;
  };
  status?: AccessReviewStatus;
}

export interface SelfSubjectRulesReview extends KubeObject {
  spec: { namespace?: string };
  status?: {
    resourceRules: PolicyRule[];
    nonResourceRules: { verbs: string[]; nonResourceURLs?: string[] }[];
    incomplete: boolean;
    evaluationError?: string;
  };
}

const authorization = { group: "authorization.k8s.io", version: "v1" } as const;

export const subjectAccessReviews: ResourceType<SubjectAccessReview> = {
  ...authorization,
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  namespaced: false,
};
export const localSubjectAccessReviews: ResourceType<SubjectAccessReview> = {
  ...authorization,
  kind: "LocalSubjectAccessReview",
  plural: "localsubjectaccessreviews",
  namespaced: true,
};
export const selfSubjectAccessReviews: ResourceType<SelfSubjectAccessReview> = {
  ...authorization,
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
};
export const selfSubjectRulesReviews: ResourceType<SelfSubjectRulesReview> = {
  ...authorization,
  kind: "SelfSubjectRulesReview",
  plural: "selfsubjectrulesreviews",
  namespaced: false,
};
