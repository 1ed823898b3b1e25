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
    description: "Asks whether a user may do something.",
    plural: "subjectaccessreviews",
    namespaced: false,
    schema: authorizationSchema("SubjectAccessReview"),
  },
  {
    ...authorization,
    kind: "SelfSubjectAccessReview",
    description: "Asks whether you may do something.",
    plural: "selfsubjectaccessreviews",
    namespaced: false,
    schema: authorizationSchema("SelfSubjectAccessReview"),
  },
  {
    ...authorization,
    kind: "LocalSubjectAccessReview",
    description: "Asks whether a user may do something in a namespace.",
    plural: "localsubjectaccessreviews",
    namespaced: true,
    schema: authorizationSchema("LocalSubjectAccessReview"),
  },
  {
    ...authorization,
    kind: "SelfSubjectRulesReview",
    description: "Asks for everything that you may do in a namespace.",
    plural: "selfsubjectrulesreviews",
    namespaced: false,
    schema: authorizationSchema("SelfSubjectRulesReview"),
  },
  {
    ...authentication,
    kind: "TokenReview",
    description: "Asks whose token this is.",
    plural: "tokenreviews",
    namespaced: false,
    schema: authenticationSchema("TokenReview"),
  },
  {
    ...authentication,
    kind: "SelfSubjectReview",
    description: "Asks who you are.",
    plural: "selfsubjectreviews",
    namespaced: false,
    schema: authenticationSchema("SelfSubjectReview"),
  },
];
