// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Features of the virtual hardware. */
export interface Features {
  /** ACPI; on when unset. */
  acpi?: FeatureState;
  /** Interrupt controller; on when unset. */
  apic?: FeatureAPIC;
  /** Features that Windows expects of a hypervisor. */
  hyperv?: FeatureHyperv;
  /** Every Hyper-V feature that the node has. */
  hypervPassthrough?: HyperVPassthrough;
  /** Whether the guest sees that it runs on KVM. */
  kvm?: FeatureKVM;
  /** Paravirtual spin locks. */
  pvspinlock?: FeatureState;
  /** System management mode, which secure boot needs. */
  smm?: FeatureState;
}

/** A feature that is on or off. */
export interface FeatureState {
  /** It is on; true when unset. */
  enabled?: boolean;
}

/** The interrupt controller. */
export interface FeatureAPIC {
  /** It is on; true when unset. */
  enabled?: boolean;
  /** Let the guest end interrupts without leaving it. */
  endOfInterrupt?: boolean;
}

/** Whether a guest sees that it runs on KVM. */
export interface FeatureKVM {
  /** It does not. */
  hidden?: boolean;
}

/** Features that Windows expects of a hypervisor. Some need others. */
export interface FeatureHyperv {
  /** Faster nested virtualization on Intel; needs vapic. */
  evmcs?: FeatureState;
  /** Frequencies of TSC and APIC timer. */
  frequencies?: FeatureState;
  /** Paravirtual interrupts between vCPUs; needs vpindex. */
  ipi?: FeatureState;
  /** Word of a changed TSC frequency after migration. */
  reenlightenment?: FeatureState;
  /** No alarm when a vCPU is late. */
  relaxed?: FeatureState;
  /** Reset by the hypervisor. */
  reset?: FeatureState;
  /** Time that a vCPU has run. */
  runtime?: FeatureState;
  /** Word to the hypervisor that a vCPU waits for a lock. */
  spinlocks?: FeatureSpinlocks;
  /** Synthetic interrupt controller; needs vpindex. */
  synic?: FeatureState;
  /** Timers of the synthetic interrupt controller; need synic. */
  synictimer?: SyNICTimer;
  /** Paravirtual TLB flush; needs vpindex. */
  tlbflush?: TLBFlush;
  /** Paravirtual APIC access. */
  vapic?: FeatureState;
  /** Name of the hypervisor that the guest sees. */
  vendorid?: FeatureVendorID;
  /** Number of each vCPU. */
  vpindex?: FeatureState;
}

/** Word to the hypervisor that a vCPU waits for a lock. */
export interface FeatureSpinlocks {
  /** It is on; true when unset. */
  enabled?: boolean;
  /** Attempts before it is told; at least 4096, which is also the default. */
  spinlocks?: number;
}

/** Timers of the synthetic interrupt controller. */
export interface SyNICTimer {
  /** Timers may interrupt directly. */
  direct?: FeatureState;
  /** They are on; true when unset. */
  enabled?: boolean;
}

/** Paravirtual TLB flush. */
export interface TLBFlush {
  /** Also from nested guests. */
  direct?: FeatureState;
  /** It is on; true when unset. */
  enabled?: boolean;
  /** Also of single pages. */
  extended?: FeatureState;
}

/** Name of the hypervisor that a guest sees. */
export interface FeatureVendorID {
  /** It is set; true when unset. */
  enabled?: boolean;
  /** The name, up to 12 characters. */
  vendorid?: string;
}

/** Every Hyper-V feature that the node has. */
export interface HyperVPassthrough {
  /** It is on; true when unset. */
  enabled?: boolean;
}
