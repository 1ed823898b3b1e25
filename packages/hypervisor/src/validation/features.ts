import { hypervDependencies } from "../defaults/features.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

function checkHyperv({ spec, field }: Subject, report: Report): void {
  const features = spec.domain.features;
  const hyperv = features?.hyperv;
  if (hyperv === undefined) return;
  const at = `${field}.domain.features.hyperv`;
  if (features?.hypervPassthrough !== undefined && features.hypervPassthrough.enabled !== false) {
    report.invalid(at, `${at} cannot be combined with ${field}.domain.features.hypervPassthrough`);
  }
  for (const { feature, needs } of hypervDependencies) {
    if (hyperv[feature]?.enabled === true && hyperv[needs]?.enabled === false) {
      report.invalid(`${at}.${feature}`, `'${at}.${feature}' requires '${at}.${needs}', which was disabled.`);
    }
  }
  const retries = hyperv.spinlocks?.spinlocks;
  if (retries !== undefined && retries < 4095) {
    report.invalid(
      `${at}.spinlocks.spinlocks`,
      `${at}.spinlocks.spinlocks '${retries}': must be greater than or equal to 4095.`,
    );
  }
  const vendor = hyperv.vendorid?.vendorid;
  if (hyperv.vendorid?.enabled === true && !vendor) {
    report.required(`${at}.vendorid.vendorid`, `${at}.vendorid.vendorid must be set`);
  }
  if (vendor !== undefined && (vendor.length > 12 || /[,\s]/.test(vendor))) {
    report.invalid(
      `${at}.vendorid.vendorid`,
      `${at}.vendorid.vendorid '${vendor}' must have at most 12 characters and no comma`,
    );
  }
}

function checkLaunchSecurity({ spec, field }: Subject, report: Report): void {
  const { launchSecurity: security, features, firmware } = spec.domain;
  if (security === undefined) return;
  const at = `${field}.domain.launchSecurity`;
  const given = [security.sev, security.snp, security.tdx].filter((type) => type !== undefined);
  if (given.length !== 1) report.forbidden(at, "One and only one launchSecurity type can be set");
  const efi = firmware?.bootloader?.efi;
  const secureBoot = efi !== undefined && efi.secureBoot !== false;
  if (security.sev !== undefined || security.snp !== undefined) {
    if (efi === undefined) report.invalid(at, "SEV requires OVMF (UEFI)");
    else if (secureBoot) report.invalid(at, "SEV does not work along with SecureBoot");
  }
  if (security.tdx !== undefined) {
    if (efi === undefined) report.invalid(at, "TDX requires OVMF (UEFI)");
    if (features?.smm !== undefined && features.smm.enabled !== false)
      report.invalid(at, "TDX does not work along with SMM");
  }
  if (security.sev?.attestation !== undefined && spec.startStrategy !== "Paused") {
    report.invalid(at, "SEV attestation requires VMI StartStrategy 'Paused'");
  }
}

export const featureRules: readonly ValidationRule[] = [
  { name: "hyperv", check: checkHyperv },
  { name: "launch-security", check: checkLaunchSecurity },
];
