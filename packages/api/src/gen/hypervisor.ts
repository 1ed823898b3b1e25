// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** One hypervisor that machines may run on. */
export interface HypervisorConfiguration {
  /** Name of the hypervisor, for example kvm or mshv. */
  name?: string;
  /** Device below /dev that it needs, when it is not the usual one. */
  hypervisorDevice?: string;
  /** What libvirt calls it, when it is not the usual name. */
  virtType?: string;
}
