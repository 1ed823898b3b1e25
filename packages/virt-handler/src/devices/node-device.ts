import { deviceResourcePrefix } from "@polyvirt/api";
import type { DeviceSource } from "./device-source.ts";

/** A device node that any number of guests can use at the same time. */
interface NodeDevice {
  /** After `devices.kubevirt.io/`. */
  readonly name: string;
  readonly path: string;
  readonly isUsable: () => boolean;
}

/** How many guests may use one: as many as there may be on a node. */
const SHARES = 1000;

export function nodeDevice({ name, path, isUsable }: NodeDevice): DeviceSource {
  const ids = Array.from({ length: SHARES }, (_, index) => `${name}${index}`);
  return {
    resourceName: `${deviceResourcePrefix}${name}`,
    list() {
      const healthy = isUsable();
      return ids.map((id) => ({ id, healthy }));
    },
    grant: () => ({ nodes: [path], environment: {} }),
  };
}
