import type { FeatureGateName } from "@polyvirt/api";
import type { SupportLevel } from "./capability.ts";

/** What is said about one feature in one overlay. */
export interface Support {
  readonly level: SupportLevel;
  readonly message?: string;
  readonly gate?: FeatureGateName;
}
