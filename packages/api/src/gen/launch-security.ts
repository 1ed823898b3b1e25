// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Protection of a guest's memory from the host. One of its fields is set; an empty object asks for secure execution on IBM Z. */
export interface LaunchSecurity {
  /** AMD SEV. */
  sev?: SEV;
  /** AMD SEV-SNP. */
  snp?: SEVSNP;
  /** Intel TDX. */
  tdx?: TDX;
}

/** AMD secure encrypted virtualization. */
export interface SEV {
  /** Wait for the owner to check the guest before it runs. */
  attestation?: SEVAttestation;
  /** Owner's Diffie-Hellman certificate, in base64. */
  dhCert?: string;
  /** What the host may do with the guest. */
  policy?: SEVPolicy;
  /** Owner's session data, in base64. */
  session?: string;
}

/** What the host may do with a guest. */
export interface SEVPolicy {
  /** Encrypt registers, too (SEV-ES). */
  encryptedState?: boolean;
}

/** Present to wait for the owner's check. */
export type SEVAttestation = Record<string, never>;

/** Present to use AMD SEV-SNP. */
export type SEVSNP = Record<string, never>;

/** Present to use Intel TDX. */
export type TDX = Record<string, never>;
