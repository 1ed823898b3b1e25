import type { VirtualMachineInstance } from "@polyvirt/api";
import type { PreparedInterface } from "../network/prepared-interface.ts";
import type { DomainDocument } from "@polyvirt/protocol";

/** Everything that deciding about one VMI on this node depends on. */
export interface ObservedInstance {
  readonly vmi: VirtualMachineInstance;
  readonly launcher: "absent" | "connected" | "lost";
  readonly lostReason: string | undefined;
  readonly domain: DomainDocument | undefined;
  /** Generation of the spec that the launcher was last given; undefined when we have not spoken to it yet. */
  readonly syncedGeneration: number | undefined;
  /** How its interfaces were connected; undefined when we have not prepared them yet. */
  readonly prepared: readonly PreparedInterface[] | undefined;
  /** Volumes that come and go and that the launcher has; undefined for a VMI without such. */
  readonly mountedVolumes?: ReadonlySet<string> | undefined;
  /** Whether the guest has been asked to end. */
  readonly shutdownSent: boolean;
  readonly hostArchitecture: string;
  readonly now: Date;
}

/** At most one command to the launcher; what it brings about is seen in the next round. */
export type InstanceAction =
  | { readonly do: "nothing" }
  | { readonly do: "sync" }
  | { readonly do: "shutdown" }
  | { readonly do: "kill" }
  /** Tell the launcher that we have taken note of the machine's end, and let go of it. */
  | { readonly do: "release" };

export interface InstanceEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface InstancePlan {
  /** Written before the action, so that an end is never forgotten by the launcher before it is recorded. */
  readonly status: VirtualMachineInstance["status"] | undefined;
  readonly events: readonly InstanceEvent[];
  readonly action: InstanceAction;
  readonly requeueAfterMs: number | undefined;
}
