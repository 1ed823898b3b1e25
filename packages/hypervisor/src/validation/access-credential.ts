import type { AccessCredential } from "@polyvirt/api";
import type { Report, Subject, ValidationRule } from "./rule.ts";

const maxCredentials = 256;

/** Propagation methods that need a disk which the guest reads while it boots. */
const disks = { noCloud: "cloudInitNoCloud", configDrive: "cloudInitConfigDrive" } as const;

function checkCredentials({ spec, field }: Subject, report: Report): void {
  const all = spec.accessCredentials ?? [];
  const list = `${field}.accessCredentials`;
  if (all.length > maxCredentials) {
    return report.invalid(list, `${list} list exceeds the ${maxCredentials} element limit in length`);
  }
  const hasDisk = (method: keyof typeof disks): boolean =>
    (spec.volumes ?? []).some((volume) => volume[disks[method]] !== undefined);
  for (const [index, credential] of all.entries()) checkCredential(credential, `${list}[${index}]`, hasDisk, report);
}

function checkCredential(
  { sshPublicKey, userPassword }: AccessCredential,
  at: string,
  hasDisk: (method: keyof typeof disks) => boolean,
  report: Report,
): void {
  if ((sshPublicKey === undefined) === (userPassword === undefined)) {
    return report.invalid(at, `${at} must have exactly one access credential type set`);
  }
  const kind = `${at}.${sshPublicKey === undefined ? "userPassword" : "sshPublicKey"}`;
  const { source, propagationMethod } = sshPublicKey ?? userPassword ?? {};
  if (!source?.secret?.secretName) report.required(`${kind}.source`, `${kind}.source must name a secret`);
  const methods = Object.keys(propagationMethod ?? {});
  if (methods.length !== 1) {
    return report.invalid(`${kind}.propagationMethod`, `${kind} must have exactly one propagationMethod set`);
  }
  const users = sshPublicKey?.propagationMethod.qemuGuestAgent?.users;
  if (sshPublicKey?.propagationMethod.qemuGuestAgent !== undefined && (users ?? []).length === 0) {
    const where = `${kind}.propagationMethod.qemuGuestAgent.users`;
    report.required(where, `${where} must list at least one user`);
  }
  for (const method of ["noCloud", "configDrive"] as const) {
    if (!methods.includes(method) || hasDisk(method)) continue;
    const where = `${kind}.propagationMethod.${method}`;
    report.invalid(where, `${where} requires a ${disks[method]} volume, from which the guest reads the keys`);
  }
}

export const accessCredentialRules: readonly ValidationRule[] = [
  { name: "access-credentials", check: checkCredentials },
];
