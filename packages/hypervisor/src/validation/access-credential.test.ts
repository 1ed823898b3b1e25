import { describe, expect, it } from "vitest";
import { type Case, causeOf, causes } from "../testing/validation.ts";

const source = { secret: { secretName: "keys" } };
const at = "spec.accessCredentials[0]";
const byAgent = { sshPublicKey: { source, propagationMethod: { qemuGuestAgent: { users: ["root"] } } } };
const passwords = { userPassword: { source, propagationMethod: { qemuGuestAgent: {} } } };
const onDisk = (method: "noCloud" | "configDrive") => ({
  sshPublicKey: { source, propagationMethod: { [method]: {} } },
});

describe("access credentials", () => {
  it.each<Case>([
    {
      spec: { accessCredentials: [{}] },
      field: at,
      message: `${at} must have exactly one access credential type set`,
    },
    {
      spec: { accessCredentials: [{ ...byAgent, ...passwords }] },
      field: at,
      message: `${at} must have exactly one access credential type set`,
    },
    {
      spec: { accessCredentials: [{ userPassword: { ...passwords.userPassword, source: {} } }] },
      reason: "FieldValueRequired",
      field: `${at}.userPassword.source`,
      message: `${at}.userPassword.source must name a secret`,
    },
    {
      spec: { accessCredentials: [{ sshPublicKey: { source, propagationMethod: {} } }] },
      field: `${at}.sshPublicKey.propagationMethod`,
      message: `${at}.sshPublicKey must have exactly one propagationMethod set`,
    },
    {
      spec: { accessCredentials: [{ sshPublicKey: { source, propagationMethod: { qemuGuestAgent: { users: [] } } } }] },
      reason: "FieldValueRequired",
      field: `${at}.sshPublicKey.propagationMethod.qemuGuestAgent.users`,
      message: `${at}.sshPublicKey.propagationMethod.qemuGuestAgent.users must list at least one user`,
    },
    {
      spec: { accessCredentials: [onDisk("configDrive")] },
      field: `${at}.sshPublicKey.propagationMethod.configDrive`,
      message: `${at}.sshPublicKey.propagationMethod.configDrive requires a cloudInitConfigDrive volume, from which the guest reads the keys`,
    },
    {
      spec: { accessCredentials: Array.from({ length: 257 }, () => byAgent) },
      field: "spec.accessCredentials",
      message: "spec.accessCredentials list exceeds the 256 element limit in length",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });

  it("are fine by agent, and by a cloud-init disk that is there", () => {
    const spec = {
      accessCredentials: [byAgent, passwords, onDisk("noCloud")],
      volumes: [{ name: "init", cloudInitNoCloud: { userData: "x" } }],
    };
    expect(causes({ spec }).filter(({ field }) => field?.includes("accessCred"))).toEqual([]);
  });
});
