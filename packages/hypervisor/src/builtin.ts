import { kvm } from "./kvm/kvm.ts";
import { mshv } from "./mshv/mshv.ts";
import { HypervisorRegistry } from "./registry.ts";

/** The hypervisors that come with Polyvirt. Roles register out-of-tree ones in it when they start. */
export const registry = new HypervisorRegistry([kvm, mshv]);
