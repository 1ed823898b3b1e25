/** Devices of one resource, as the node has them: what a device plug-in offers to the kubelet. */
export interface DeviceSource {
  /** As pods ask for it: `devices.kubevirt.io/kvm`. */
  readonly resourceName: string;
  /** All devices as they are now. */
  list(): OfferedDevice[];
  /** What a container needs to use these devices. */
  grant(ids: readonly string[]): DeviceGrant;
}

export interface OfferedDevice {
  readonly id: string;
  readonly healthy: boolean;
  readonly numaNode?: number;
}

export interface DeviceGrant {
  /** Device nodes, at the same path inside and outside. */
  readonly nodes: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** The variable by which a launcher learns which devices it got: `PCI_RESOURCE_EXAMPLE_ORG_GPU`. */
export function resourceVariable(prefix: string, resourceName: string): string {
  return `${prefix}_${resourceName.toUpperCase().replaceAll(/[/.]/g, "_")}`;
}
