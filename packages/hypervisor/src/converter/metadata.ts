import type { Configurator } from "../contract.ts";

/** Name and identity. Namespace and name together are unique on a node. */
export const metadata: Configurator = {
  name: "metadata",
  configure(domain, vmi) {
    domain.name = `${vmi.metadata.namespace ?? "default"}_${vmi.metadata.name ?? ""}`;
    const uuid = vmi.spec.domain.firmware?.uuid;
    if (uuid !== undefined && uuid !== "") domain.uuid = uuid;
  },
};
