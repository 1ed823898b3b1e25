import type { VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { credentialVolumes } from "./access-credentials.ts";

const secret = (secretName: string) => ({ secret: { secretName } });
const vmi: VirtualMachineInstance = {
  metadata: { name: "web", namespace: "shop" },
  spec: {
    domain: { devices: {} },
    accessCredentials: [
      { sshPublicKey: { source: secret("team.keys"), propagationMethod: { qemuGuestAgent: { users: ["root"] } } } },
      { sshPublicKey: { source: secret("team.keys"), propagationMethod: { noCloud: {} } } },
      { userPassword: { source: secret("words"), propagationMethod: { qemuGuestAgent: {} } } },
    ],
  },
};

describe("credentialVolumes", () => {
  it("mounts every secret once, where the launcher looks for it", () => {
    expect(credentialVolumes(vmi)).toEqual({
      volumes: [
        { name: "access-credential-0", secret: { secretName: "team.keys" } },
        { name: "access-credential-1", secret: { secretName: "words" } },
      ],
      mounts: [
        {
          name: "access-credential-0",
          mountPath: "/var/run/kubevirt-private/secret/team.keys-access-cred",
          readOnly: true,
        },
        {
          name: "access-credential-1",
          mountPath: "/var/run/kubevirt-private/secret/words-access-cred",
          readOnly: true,
        },
      ],
    });
  });

  it("adds nothing to other pods", () => {
    expect(credentialVolumes({ ...vmi, spec: { domain: { devices: {} } } })).toEqual({ volumes: [], mounts: [] });
  });
});
