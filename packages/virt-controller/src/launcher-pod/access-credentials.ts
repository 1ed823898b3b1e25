import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Volume, VolumeMount } from "@polyvirt/api/k8s";
import { launcherPaths } from "./context.ts";

interface CredentialVolumes {
  readonly volumes: readonly Volume[];
  readonly mounts: readonly VolumeMount[];
}

/** The secrets with credentials for the guest's users, where the launcher sees them change. */
export function credentialVolumes({ spec }: VirtualMachineInstance): CredentialVolumes {
  const names = (spec.accessCredentials ?? []).flatMap(
    ({ sshPublicKey, userPassword }) => (sshPublicKey ?? userPassword)?.source.secret?.secretName ?? [],
  );
  const secrets = [...new Set(names)].map((secretName, index) => ({ secretName, name: `access-credential-${index}` }));
  return {
    volumes: secrets.map(({ secretName, name }) => ({ name, secret: { secretName } })),
    mounts: secrets.map(({ secretName, name }) => ({
      name,
      mountPath: `${launcherPaths.private}/secret/${secretName}-access-cred`,
      readOnly: true,
    })),
  };
}
