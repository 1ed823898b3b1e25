import type { UserInfo } from "@polyvirt/api/k8s";

/** Our own roles, which may do to objects what users may not. */
const ownAccounts = ["virt-api", "virt-controller", "virt-handler", "virt-operator"] as const;

export type OwnAccount = (typeof ownAccounts)[number];

/** Which of our roles made the request; `undefined` for everyone else. `namespace` is where Polyvirt is installed. */
export function ownAccount(user: UserInfo, namespace: string): OwnAccount | undefined {
  return ownAccounts.find((account) => user.username === `system:serviceaccount:${namespace}:${account}`);
}
