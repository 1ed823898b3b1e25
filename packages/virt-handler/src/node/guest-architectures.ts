import { nodeLabels } from "@polyvirt/api";
import { architectures, type Architecture } from "@polyvirt/hypervisor";

interface NodeFacts {
  readonly hostArchitecture: Architecture;
  readonly hasEmulator: (architecture: Architecture) => boolean;
}

/** Which guests this node can run: `kubevirt.io/vm-arch-arm64`. A label whose reason is gone is taken away (null). */
export function guestArchitectureLabels({ hostArchitecture, hasEmulator }: NodeFacts): Record<string, string | null> {
  return Object.fromEntries(
    architectures.map((architecture) => [
      `${nodeLabels.guestArchitecturePrefix}${architecture}`,
      architecture === hostArchitecture || hasEmulator(architecture) ? "true" : null,
    ]),
  );
}
