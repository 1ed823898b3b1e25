import type { Authorizer as CelAuthorizer, PolicyInput } from "@polyvirt/cel";

import type { Authorizer } from "../auth/rbac.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "../registry/resource.ts";
import type { AdmissionRequest } from "./admission.ts";
import { admissionRequestJson, objectIn } from "./admission-review.ts";
import type { MatchDeps } from "./request-match.ts";

/** What expressions see of a request. */
export function policyInput(
  deps: MatchDeps & { readonly authorizer: Authorizer },
  resource: Resource,
  request: AdmissionRequest,
): PolicyInput {
  const { context, namespace, name, subresource } = request;
  const namespaceObject = request.resource.namespaced ? deps.objects.find(deps.namespaces, "", namespace) : undefined;
  return {
    object: objectIn(resource, request.object),
    oldObject: objectIn(resource, request.old),
    request: admissionRequestJson(resource, request),
    ...(namespaceObject === undefined ? {} : { namespaceObject: visibleNamespace(namespaceObject) }),
    authorizer: {
      authorizer: celAuthorizer(deps.authorizer),
      user: { name: context.user.username, groups: context.user.groups },
      requestResource: { group: resource.group, resource: resource.plural, subresource, namespace, name },
    },
  };
}

/** Owners of fields are nobody's business there, as in Kubernetes. */
function visibleNamespace(namespace: ApiObject): ApiObject {
  const { managedFields: _, ownerReferences: __, ...metadata } = namespace.metadata;
  return { ...namespace, metadata };
}

function celAuthorizer(authorizer: Authorizer): CelAuthorizer {
  return {
    authorize(question) {
      const user = { username: question.user.name, groups: question.user.groups ?? [] };
      if ("path" in question) return authorizer.authorize({ user, verb: question.verb, path: question.path });
      const { verb, group, resource, subresource, namespace, name } = question;
      return authorizer.authorize({ user, verb, group, resource, subresource, namespace, name });
    },
  };
}
