import { Refusal } from "../server/status.ts";

const noSev = "no guest of this version runs with AMD SEV, so there is nothing to attest";

/** Why something is not served; the rest is simply not there yet. */
const reasons: Readonly<Record<string, string>> = {
  "virtualmachineinstances/usbredir": "no guest of this version has USB redirection",
  "virtualmachineinstances/vsock": "nothing carries a stream to a guest's VSOCK device",
  "virtualmachineinstances/objectgraph": "read the VMI, its volumes and its launcher pod instead",
  "virtualmachineinstances/backup": "copy the guest's claims while it is frozen instead",
  "virtualmachineinstances/redefine-checkpoint": "there are no backups and so no checkpoints",
  "virtualmachineinstances/evacuate/cancel": "no guest of this version is evacuated",
  "virtualmachineinstances/sev/fetchcertchain": noSev,
  "virtualmachineinstances/sev/querylaunchmeasurement": noSev,
  "virtualmachineinstances/sev/setupsession": noSev,
  "virtualmachineinstances/sev/injectlaunchsecret": noSev,
};

/** What is part of the API but not of this version. */
export function unserved(what: string): Refusal {
  const reason = reasons[what];
  return new Refusal(501, `${what} is not served by this version${reason === undefined ? "" : `: ${reason}`}`);
}
