import { conditionTypes } from "@polyvirt/api";
import { isDomainAlive } from "../domain-phase.ts";
import { setCondition, type StatusPart } from "./status-part.ts";

/** Emulation is slow, which the guest's owner should know before wondering. */
export const emulationPart: StatusPart = (status, { vmi, domain, hostArchitecture, now }) => {
  if (domain === undefined || !isDomainAlive(domain)) return status;
  const guest = vmi.spec.architecture ?? hostArchitecture;
  const message = `VM running with software emulation (host=${hostArchitecture}, guest=${guest})`;
  if (guest !== hostArchitecture) {
    // Two names for the same news: the proposal's and the one that KubeVirt took up.
    const reason = "CrossArchitectureEmulation";
    const told = setCondition(status, { type: conditionTypes.emulated, status: "True", reason, message }, now);
    return setCondition(told, { type: conditionTypes.softwareEmulation, status: "True", reason, message }, now);
  }
  if (domain.Spec.Type !== "qemu") return status;
  const reason = "HypervisorDeviceUnavailable";
  return setCondition(status, { type: conditionTypes.softwareEmulation, status: "True", reason, message }, now);
};
