import { subresourceGroup } from "@polyvirt/api";
import { subjectAccessReviews, type ResourceAttributes, type UserInfo } from "@polyvirt/api/k8s";
import type { KubeClient } from "@polyvirt/kube";
import { Refusal } from "../server/status.ts";

/** Asks the API server whether the user may; throws the refusal that a client shows. */
export async function authorize(
  client: Pick<KubeClient, "create">,
  user: UserInfo,
  attributes: Omit<ResourceAttributes, "group">,
): Promise<void> {
  const { username, groups, extra } = user;
  const review = await client.create(subjectAccessReviews, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    metadata: {},
    spec: {
      resourceAttributes: { group: subresourceGroup, ...attributes },
      ...(username === undefined ? {} : { user: username }),
      ...(groups === undefined ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
    },
  });
  if (review.status?.allowed === true) return;
  const { resource = "", subresource, name, namespace, verb } = attributes;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === undefined ? "" : ` in the namespace "${namespace}"`;
  const which = name === undefined ? what : `${what} "${name}"`;
  const reason = review.status?.reason ? `: ${review.status.reason}` : "";
  throw new Refusal(
    403,
    `${which} is forbidden: User "${username}" cannot ${verb} resource "${what}" in API group "${subresourceGroup}"${where}${reason}`,
    { group: subresourceGroup, kind: resource, ...(name === undefined ? {} : { name }) },
  );
}
