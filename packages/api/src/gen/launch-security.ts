// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Launch security. */
export interface LaunchSecurity {
  /** Sev. */
  sev?: SEV;
  /** Snp. */
  snp?: SEVSNP;
  /** Tdx. */
  tdx?: TDX;
}

/** SEV. */
export interface SEV {
  /** Attestation. */
  attestation?: SEVAttestation;
  /** Dh cert. */
  dhCert?: string;
  /** Policy. */
  policy?: SEVPolicy;
  /** Session. */
  session?: string;
}

/** SEV policy. */
export interface SEVPolicy {
  /** Encrypted state. */
  encryptedState?: boolean;
}

/** SEV attestation. */
export type SEVAttestation = Record<string, never>;

/** SEVSNP. */
export type SEVSNP = Record<string, never>;

/** TDX. */
export type TDX = Record<string, never>;
