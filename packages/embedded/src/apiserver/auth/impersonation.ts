import type { IncomingHttpHeaders } from "node:http";

import { badRequest, forbidden } from "../http/status-error.ts";
import type { Authorizer } from "./rbac.ts";
import { authenticatedGroup, type UserInfo } from "./user.ts";

const extraPrefix = "impersonate-extra-";
const serviceAccountName = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Acts as another user when the headers ask for it and the real user may: `kubectl --as`. */
export function impersonate(user: UserInfo, headers: IncomingHttpHeaders, authorizer: Authorizer): UserInfo {
  const username = single(headers["impersonate-user"]);
  const groups = list(headers["impersonate-group"]);
  const uid = single(headers["impersonate-uid"]);
  const extra = extras(headers);
  const asksMore = groups.length > 0 || uid !== undefined || Object.keys(extra).length > 0;
  if (username === undefined) {
    if (asksMore) throw badRequest("requested impersonation without impersonating a user");
    return user;
  }
  const check = (resource: string, name: string, namespace = "", group = "", subresource = ""): void => {
    const request = { user, verb: "impersonate", group, resource, namespace, name, subresource };
    if (authorizer.authorize(request).allowed) return;
    const scope = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
    const full = subresource === "" ? resource : `${resource}/${subresource}`;
    throw forbidden(
      { group, plural: resource },
      name,
      `User ${JSON.stringify(user.username)} cannot impersonate resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${scope}`,
    );
  };
  const [, namespace, account] = serviceAccountName.exec(username) ?? [];
  if (namespace !== undefined && account !== undefined) check("serviceaccounts", account, namespace);
  else check("users", username);
  for (const group of groups) check("groups", group);
  if (uid !== undefined) check("uids", uid, "", "authentication.k8s.io");
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) check("userextras", value, "", "authentication.k8s.io", key);
  }
  const implied =
    namespace !== undefined && groups.length === 0
      ? ["system:serviceaccounts", `system:serviceaccounts:${namespace}`]
      : [];
  const all = new Set([...groups, ...implied, ...(username === "system:anonymous" ? [] : [authenticatedGroup])]);
  return {
    username,
    groups: [...all],
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** Node joins repeated headers with a comma; group names do not contain any. */
const list = (value: string | string[] | undefined): string[] =>
  (Array.isArray(value) ? value : (value ?? "").split(",")).map((item) => item.trim()).filter((item) => item !== "");

function extras(headers: IncomingHttpHeaders): Record<string, string[]> {
  const found = Object.entries(headers).filter(([name]) => name.startsWith(extraPrefix));
  return Object.fromEntries(
    found.map(([name, value]) => [decodeURIComponent(name.slice(extraPrefix.length)), list(value)]),
  );
}
