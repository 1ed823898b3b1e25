// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** How the certificates between the roles are renewed. */
export interface KubeVirtCertificateRotateStrategy {
  /** They are signed by an authority that virt-operator makes. */
  selfSigned?: KubeVirtSelfSignConfiguration;
}

/** Lifetimes of the authority and of the certificates that it signs. */
export interface KubeVirtSelfSignConfiguration {
  /** Lifetime of the authority. */
  ca?: CertConfig;
  /** Older spelling of how long a replaced authority is still trusted. */
  caOverlapInterval?: string;
  /** Older spelling of the lifetime of the authority. */
  caRotateInterval?: string;
  /** Older spelling of the lifetime of the certificates. */
  certRotateInterval?: string;
  /** Lifetime of the certificates. */
  server?: CertConfig;
}

/** Lifetime of a certificate. */
export interface CertConfig {
  /** How long it is valid. */
  duration?: string;
  /** How long before its end it is replaced. */
  renewBefore?: string;
}
