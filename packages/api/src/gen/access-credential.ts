// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Access credential. */
export interface AccessCredential {
  /** Ssh public key. */
  sshPublicKey?: SSHPublicKeyAccessCredential;
  /** User password. */
  userPassword?: UserPasswordAccessCredential;
}

/** SSH public key access credential. */
export interface SSHPublicKeyAccessCredential {
  /** Propagation method. */
  propagationMethod: SSHPublicKeyAccessCredentialPropagationMethod;
  /** Source. */
  source: SSHPublicKeyAccessCredentialSource;
}

/** SSH public key access credential propagation method. */
export interface SSHPublicKeyAccessCredentialPropagationMethod {
  /** Config drive. */
  configDrive?: ConfigDriveSSHPublicKeyAccessCredentialPropagation;
  /** No cloud. */
  noCloud?: NoCloudSSHPublicKeyAccessCredentialPropagation;
  /** Qemu guest agent. */
  qemuGuestAgent?: QemuGuestAgentSSHPublicKeyAccessCredentialPropagation;
}

/** Config drive SSH public key access credential propagation. */
export type ConfigDriveSSHPublicKeyAccessCredentialPropagation = Record<string, never>;

/** No cloud SSH public key access credential propagation. */
export type NoCloudSSHPublicKeyAccessCredentialPropagation = Record<string, never>;

/** Qemu guest agent SSH public key access credential propagation. */
export interface QemuGuestAgentSSHPublicKeyAccessCredentialPropagation {
  /** Users. */
  users: string[];
}

/** SSH public key access credential source. */
export interface SSHPublicKeyAccessCredentialSource {
  /** Secret. */
  secret?: AccessCredentialSecretSource;
}

/** Access credential secret source. */
export interface AccessCredentialSecretSource {
  /** Secret name. */
  secretName: string;
}

/** User password access credential. */
export interface UserPasswordAccessCredential {
  /** Propagation method. */
  propagationMethod: UserPasswordAccessCredentialPropagationMethod;
  /** Source. */
  source: UserPasswordAccessCredentialSource;
}

/** User password access credential propagation method. */
export interface UserPasswordAccessCredentialPropagationMethod {
  /** Qemu guest agent. */
  qemuGuestAgent?: QemuGuestAgentUserPasswordAccessCredentialPropagation;
}

/** Qemu guest agent user password access credential propagation. */
export type QemuGuestAgentUserPasswordAccessCredentialPropagation = Record<string, never>;

/** User password access credential source. */
export interface UserPasswordAccessCredentialSource {
  /** Secret. */
  secret?: AccessCredentialSecretSource;
}
