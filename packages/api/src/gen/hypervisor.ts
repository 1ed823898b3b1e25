// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Hypervisor configuration. */
export interface HypervisorConfiguration {
  /** Name. */
  name?: string;
  /** Hypervisor device. */
  hypervisorDevice?: string;
  /** Virt type. */
  virtType?: string;
}
