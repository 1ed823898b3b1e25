/** The guest architectures as data. One file per architecture; everything else looks its facts up here. */
import type { Architecture } from "../architecture.ts";
import { amd64 } from "./amd64.ts";
import { arm64 } from "./arm64.ts";
import type { ArchitectureProfile } from "./profile.ts";
import { s390x } from "./s390x.ts";

export type { ArchitectureProfile } from "./profile.ts";

export const architectureProfiles: Readonly<Record<Architecture, ArchitectureProfile>> = { amd64, arm64, s390x };
