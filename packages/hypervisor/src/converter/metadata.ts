import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DomainExtras } from "@polyvirt/domain";
import type { Configurator } from "../contract.ts";

const defaultGracePeriodSeconds = 30;

/** Name and identity. Namespace and name together are unique on a node. */
export const metadata: Configurator = {
  name: "metadata",
  configure(domain, vmi) {
    domain.name = `${vmi.metadata.namespace ?? "default"}_${vmi.metadata.name ?? ""}`;
    const uuid = vmi.spec.domain.firmware?.uuid;
    if (uuid !== undefined && uuid !== "") domain.uuid = uuid;
    domain.metadata = ownData(vmi);
  },
};

/** What sidecars and tools that look at a domain expect to learn about its VMI, under KubeVirt's names. */
function ownData({ metadata: { uid }, spec }: VirtualMachineInstance): DomainExtras {
  const seconds = spec.terminationGracePeriodSeconds ?? defaultGracePeriodSeconds;
  const gracePeriod = {
    name: "graceperiod",
    children: [{ name: "deletionGracePeriodSeconds", children: [`${seconds}`] }],
  };
  const identity = uid === undefined ? [] : [{ name: "uid", children: [uid] }];
  return {
    $elements: [
      { name: "kubevirt", attributes: { xmlns: "http://kubevirt.io" }, children: [...identity, gracePeriod] },
    ],
  };
}
