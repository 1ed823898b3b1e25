import type { FeatureGateName } from "@polyvirt/api";

/** How far a feature is supported on one platform. Nothing listed means: fully supported. */
export type SupportLevel = "supported" | "experimental" | "deprecated" | "unsupported";

export interface CapabilitySupport {
  /** Stable key, for example `video.vga` or `launch-security.sev`. */
  readonly key: string;
  /** What it is, for people. */
  readonly title: string;
  /** Field of the VMI that asks for it. */
  readonly field: string;
  readonly level: SupportLevel;
  /** What a user sees when the level is not `supported`. */
  readonly message?: string;
  /** Feature gate that opens an experimental feature. */
  readonly gate?: FeatureGateName;
}
