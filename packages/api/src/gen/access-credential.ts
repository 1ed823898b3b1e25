// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Credentials for the guest's users. One of its fields is set. */
export interface AccessCredential {
  /** Public SSH keys. */
  sshPublicKey?: SSHPublicKeyAccessCredential;
  /** Passwords. */
  userPassword?: UserPasswordAccessCredential;
}

/** Public SSH keys for the guest's users. */
export interface SSHPublicKeyAccessCredential {
  /** How they get into the guest. */
  propagationMethod: SSHPublicKeyAccessCredentialPropagationMethod;
  /** Where they come from. */
  source: SSHPublicKeyAccessCredentialSource;
}

/** How SSH keys get into the guest. One of its fields is set. */
export interface SSHPublicKeyAccessCredentialPropagationMethod {
  /** By cloud-init's config drive, at the start. */
  configDrive?: ConfigDriveSSHPublicKeyAccessCredentialPropagation;
  /** By cloud-init's NoCloud disk, at the start. */
  noCloud?: NoCloudSSHPublicKeyAccessCredentialPropagation;
  /** By the guest agent, also later. */
  qemuGuestAgent?: QemuGuestAgentSSHPublicKeyAccessCredentialPropagation;
}

/** Present to use cloud-init's config drive. */
export type ConfigDriveSSHPublicKeyAccessCredentialPropagation = Record<string, never>;

/** Present to use cloud-init's NoCloud disk. */
export type NoCloudSSHPublicKeyAccessCredentialPropagation = Record<string, never>;

/** SSH keys by the guest agent. */
export interface QemuGuestAgentSSHPublicKeyAccessCredentialPropagation {
  /** Users of the guest that get the keys. */
  users: string[];
}

/** Where SSH keys come from. */
export interface SSHPublicKeyAccessCredentialSource {
  /** A secret; each of its values is a key. */
  secret?: AccessCredentialSecretSource;
}

/** A secret in the same namespace. */
export interface AccessCredentialSecretSource {
  /** Its name. */
  secretName: string;
}

/** Passwords for the guest's users. */
export interface UserPasswordAccessCredential {
  /** How they get into the guest. */
  propagationMethod: UserPasswordAccessCredentialPropagationMethod;
  /** Where they come from. */
  source: UserPasswordAccessCredentialSource;
}

/** How passwords get into the guest. */
export interface UserPasswordAccessCredentialPropagationMethod {
  /** By the guest agent. */
  qemuGuestAgent?: QemuGuestAgentUserPasswordAccessCredentialPropagation;
}

/** Present to use the guest agent. */
export type QemuGuestAgentUserPasswordAccessCredentialPropagation = Record<string, never>;

/** Where passwords come from. */
export interface UserPasswordAccessCredentialSource {
  /** A secret; its keys are users. */
  secret?: AccessCredentialSecretSource;
}
