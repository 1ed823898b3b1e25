import type { BuiltinKind } from "./kind.ts";

const authorization = { group: "authorization.k8s.io", version: "v1", virtual: true };
const authentication = { group: "authentication.k8s.io", version: "v1", virtual: true };
const authorizationSchema = (kind: string): string => `io.k8s.api.authorization.v1.${kind}`;
const authenticationSchema = (kind: string): string => `io.k8s.api.authentication.v1.${kind}`;

/** Questions about identity and permission: posted, answered in the status, never stored. */
export const accessKinds: readonly BuiltinKind[] = [
  {
    ...authorization,
    kind: "SubjectAccessReview",
    plural: "subjectaccessreviews",
    namespaced: false,
    schema: authorizationSchema("SubjectAccessReview"),
  },
  {
    ...authorization,
    kind: "SelfSubjectAccessReview",
    plural: "selfsubjectaccessreviews",
    namespaced: false,
    schema: authorizationSchema("SelfSubjectAccessReview"),
  },
  {
    ...authorization,
    kind: "LocalSubjectAccessReview",
    plural: "localsubjectaccessreviews",
    namespaced: true,
    schema: authorizationSchema("LocalSubjectAccessReview"),
  },
  {
    ...authorization,
    kind: "SelfSubjectRulesReview",
    plural: "selfsubjectrulesreviews",
    namespaced: false,
    schema: authorizationSchema("SelfSubjectRulesReview"),
  },
  {
    ...authentication,
    kind: "TokenReview",
    plural: "tokenreviews",
    namespaced: false,
    schema: authenticationSchema("TokenReview"),
  },
  {
    ...authentication,
    kind: "SelfSubjectReview",
    plural: "selfsubjectreviews",
    namespaced: false,
    schema: authenticationSchema("SelfSubjectReview"),
  },
];
