// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Kube virt certificate rotate strategy. */
export interface KubeVirtCertificateRotateStrategy {
  /** Self signed. */
  selfSigned?: KubeVirtSelfSignConfiguration;
}

/** Kube virt self sign configuration. */
export interface KubeVirtSelfSignConfiguration {
  /** Ca. */
  ca?: CertConfig;
  /** Ca overlap interval. */
  caOverlapInterval?: string;
  /** Ca rotate interval. */
  caRotateInterval?: string;
  /** Cert rotate interval. */
  certRotateInterval?: string;
  /** Server. */
  server?: CertConfig;
}

/** Cert config. */
export interface CertConfig {
  /** Duration. */
  duration?: string;
  /** Renew before. */
  renewBefore?: string;
}
