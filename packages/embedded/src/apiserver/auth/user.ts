/** Who is asking. Names and groups follow Kubernetes' conventions. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const mastersGroup = "system:masters";
export const authenticatedGroup = "system:authenticated";

export const anonymous: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

/** The server itself, for what it does on its own account. */
export const systemUser: UserInfo = { username: "system:apiserver", groups: [mastersGroup, authenticatedGroup] };
