import { systemUser, type UserInfo } from "../auth/user.ts";

export type FieldValidation = "Strict" | "Warn" | "Ignore";

/** What a write needs to know about the request that caused it. */
export interface RequestContext {
  readonly user: UserInfo;
  readonly fieldManager: string;
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  warn(message: string): void;
  /** Set when the object already says who owns which field, as server-side apply does. */
  readonly ownsManagedFields?: boolean;
}

/** For what the server's own controllers write. */
export const systemContext = (fieldManager: string): RequestContext => ({
  user: systemUser,
  fieldManager,
  dryRun: false,
  fieldValidation: "Ignore",
  warn() {},
});
