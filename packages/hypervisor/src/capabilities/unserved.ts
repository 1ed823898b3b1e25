import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import type { FeatureKey } from "./features.ts";
import { findUses } from "./registry.ts";

/**
 * Part of the API, and understood by this layer, but nothing prepares it in the launcher's pod yet. A VMI that asks for it
 * is refused at once instead of failing later on its node. Whoever adds the missing part takes its row away.
 */
const missing: Readonly<Partial<Record<FeatureKey, string>>> = {
  "volumes.containerPath": "a containerPath volume",
  "volumes.downwardMetrics": "a downwardMetrics volume",
  "volumes.memoryDump": "a memoryDump volume",
  "utility-volumes": "a utility volume",
  "resource-claims": "a resource claim",
  "networks.multus": "a multus network",
  "networks.resource-claim": "a network by resource claim",
  "networks.pod-cidr-ipv6": "a chosen range of IPv6 addresses inside the guest",
  "interfaces.binding": "a network binding plug-in",
  "interfaces.sriov": "a SR-IOV interface",
  "interfaces.tag": "a device tag",
  "disks.changed-blocks": "changed block tracking",
  "disks.reservation": "SCSI persistent reservation",
  "disks.tag": "a device tag",
  "gpus.tag": "a device tag",
  "host-devices.tag": "a device tag",
  "usb-redirection": "USB redirection",
  "downward-metrics": "the downward metrics device",
  "launch-security.sev": "AMD SEV",
  "launch-security.snp": "AMD SEV-SNP",
  "launch-security.tdx": "Intel TDX",
  "cpu.dedicated": "dedicated CPU placement",
};

/** What a VMI asks for that this version cannot run yet. Beside validation, which says what can never be. */
export function findUnserved(field: string, spec: VirtualMachineInstanceSpec): StatusCause[] {
  return Object.entries(missing).flatMap(([key, what]) =>
    findUses(key, spec).map((path) => ({
      reason: "FieldValueNotSupported",
      field: `${field}.${path}`,
      message: `${field}.${path}: ${what} is not served by this version`,
    })),
  );
}
