import type { DomainSection, MachinePlan } from "./machine-plan.ts";

const id = "lsec0";

/** Memory that the processor encrypts, so that the host cannot read it. */
export function addLaunchSecurity(domain: DomainSection, plan: MachinePlan): void {
  const security = domain.child("launchSecurity");
  if (security === undefined) return;
  if (plan.virtType !== "kvm") {
    throw domain.refuse("launchSecurity", "software emulation cannot encrypt memory; it needs KVM and the processor");
  }
  const field = security.path;
  switch (security.oneOf("type", ["sev", "sev-snp", "tdx"])) {
    case "sev":
      plan.requireFile("/dev/sev", `${field}: the pod was given no /dev/sev`);
      if (security.has("dhCert") || security.has("session")) {
        throw security.refuse("type", "launch blobs are not supported by the qemu stack; use the libvirt stack");
      }
      plan.addObject("sev-guest", id, {
        cbitpos: security.number("cbitpos"),
        "reduced-phys-bits": security.number("reducedPhysBits"),
        policy: policyOf(security.text("policy")),
      });
      break;
    case "sev-snp":
      plan.requireFile("/dev/sev", `${field}: the pod was given no /dev/sev`);
      plan.addObject("sev-snp-guest", id, { policy: policyOf(security.text("policy")) });
      break;
    case "tdx":
      plan.addObject("tdx-guest", id);
      plan.setMachine({ "kernel-irqchip": "split" });
      break;
    case undefined:
      throw security.refuse("type", "it must be given");
  }
  plan.setMachine({ "confidential-guest-support": id });
}

/** Written in hexadecimal. */
function policyOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
