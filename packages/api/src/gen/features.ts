// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Features. */
export interface Features {
  /** Acpi. */
  acpi?: FeatureState;
  /** Apic. */
  apic?: FeatureAPIC;
  /** Hyperv. */
  hyperv?: FeatureHyperv;
  /** Hyperv passthrough. */
  hypervPassthrough?: HyperVPassthrough;
  /** Kvm. */
  kvm?: FeatureKVM;
  /** Pvspinlock. */
  pvspinlock?: FeatureState;
  /** Smm. */
  smm?: FeatureState;
}

/** Feature state. */
export interface FeatureState {
  /** Enabled. */
  enabled?: boolean;
}

/** Feature APIC. */
export interface FeatureAPIC {
  /** Enabled. */
  enabled?: boolean;
  /** End of interrupt. */
  endOfInterrupt?: boolean;
}

/** Feature KVM. */
export interface FeatureKVM {
  /** Hidden. */
  hidden?: boolean;
}

/** Feature hyperv. */
export interface FeatureHyperv {
  /** Evmcs. */
  evmcs?: FeatureState;
  /** Frequencies. */
  frequencies?: FeatureState;
  /** Ipi. */
  ipi?: FeatureState;
  /** Reenlightenment. */
  reenlightenment?: FeatureState;
  /** Relaxed. */
  relaxed?: FeatureState;
  /** Reset. */
  reset?: FeatureState;
  /** Runtime. */
  runtime?: FeatureState;
  /** Spinlocks. */
  spinlocks?: FeatureSpinlocks;
  /** Synic. */
  synic?: FeatureState;
  /** Synictimer. */
  synictimer?: SyNICTimer;
  /** Tlbflush. */
  tlbflush?: TLBFlush;
  /** Vapic. */
  vapic?: FeatureState;
  /** Vendorid. */
  vendorid?: FeatureVendorID;
  /** Vpindex. */
  vpindex?: FeatureState;
}

/** Feature spinlocks. */
export interface FeatureSpinlocks {
  /** Enabled. */
  enabled?: boolean;
  /** Spinlocks. */
  spinlocks?: number;
}

/** Sy NIC timer. */
export interface SyNICTimer {
  /** Direct. */
  direct?: FeatureState;
  /** Enabled. */
  enabled?: boolean;
}

/** TLB flush. */
export interface TLBFlush {
  /** Direct. */
  direct?: FeatureState;
  /** Enabled. */
  enabled?: boolean;
  /** Extended. */
  extended?: FeatureState;
}

/** Feature vendor ID. */
export interface FeatureVendorID {
  /** Enabled. */
  enabled?: boolean;
  /** Vendorid. */
  vendorid?: string;
}

/** Hyper V passthrough. */
export interface HyperVPassthrough {
  /** Enabled. */
  enabled?: boolean;
}
