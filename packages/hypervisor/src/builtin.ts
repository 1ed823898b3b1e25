import { kvm } from "./kvm/kvm.ts";
import { mshv } from "./mshv/mshv.ts";
import { HypervisorRegistry } from "./registry.ts";

/** The hypervisors that come with Polyvirt. Roles add out-of-tree ones when they start. */
export const registry = new HypervisorRegistry([kvm, mshv]);
