import type { Configurator } from "../contract.ts";

/** Bits of the SEV guest policy. Debugging is always forbidden: it would let the host read the guest's memory. */
const sevNoDebug = 1;
const sevEncryptedState = 4;
/** SNP: bit 17 must be one, bit 16 allows simultaneous multithreading. */
const snpPolicy = 0x30000;

const hex = (value: number): string => `0x${value.toString(16)}`;

/** Encrypted and isolated guests; only amd64 has them. */
export const launchSecurity: Configurator = {
  name: "launch-security",
  configure(domain, vmi, context) {
    const security = vmi.spec.domain.launchSecurity;
    if (security?.sev !== undefined) {
      const { sev } = security;
      const dhCert = context.launchSecurity?.dhCert ?? sev.dhCert;
      const session = context.launchSecurity?.session ?? sev.session;
      domain.launchSecurity = {
        type: "sev",
        policy: hex(sevNoDebug | (sev.policy?.encryptedState === true ? sevEncryptedState : 0)),
        ...(dhCert === undefined ? {} : { dhCert }),
        ...(session === undefined ? {} : { session }),
        ...(context.launchSecurity?.cbitpos === undefined ? {} : { cbitpos: context.launchSecurity.cbitpos }),
        ...(context.launchSecurity?.reducedPhysBits === undefined
          ? {}
          : { reducedPhysBits: context.launchSecurity.reducedPhysBits }),
      };
    } else if (security?.snp !== undefined) {
      domain.launchSecurity = { type: "sev-snp", policy: hex(snpPolicy) };
    } else if (security?.tdx !== undefined) {
      domain.launchSecurity = { type: "tdx" };
    }
  },
};
