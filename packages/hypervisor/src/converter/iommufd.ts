import type { Configurator } from "../contract.ts";
import { usesVfio } from "../resources/device-use.ts";

/** The group of file descriptors under which the node agent hands over the device that maps guest memory. */
const descriptorGroup = "iommu";

/** Host devices through one memory map for all of them instead of one for each. */
export const iommufd: Configurator = {
  name: "iommufd",
  configure(domain, vmi, context) {
    if (context.settings.iommufd !== true || !usesVfio(vmi.spec)) return;
    domain.iommufd = { enabled: "yes", fdgroup: descriptorGroup };
  },
};
