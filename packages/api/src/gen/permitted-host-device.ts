// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Permitted host devices. */
export interface PermittedHostDevices {
  /** Mediated devices. */
  mediatedDevices?: MediatedHostDevice[];
  /** Pci host devices. */
  pciHostDevices?: PciHostDevice[];
  /** Usb. */
  usb?: USBHostDevice[];
}

/** Mediated host device. */
export interface MediatedHostDevice {
  /** External resource provider. */
  externalResourceProvider?: boolean;
  /** Mdev name selector. */
  mdevNameSelector: string;
  /** Resource name. */
  resourceName: string;
}

/** Pci host device. */
export interface PciHostDevice {
  /** External resource provider. */
  externalResourceProvider?: boolean;
  /** Pci vendor selector. */
  pciVendorSelector: string;
  /** Resource name. */
  resourceName: string;
}

/** USB host device. */
export interface USBHostDevice {
  /** External resource provider. */
  externalResourceProvider?: boolean;
  /** Resource name. */
  resourceName: string;
  /** Selectors. */
  selectors?: USBSelector[];
}

/** USB selector. */
export interface USBSelector {
  /** Product. */
  product: string;
  /** Vendor. */
  vendor: string;
}

/** Mediated devices configuration. */
export interface MediatedDevicesConfiguration {
  /** Enabled. */
  enabled?: boolean;
  /** Mediated device types. */
  mediatedDeviceTypes?: string[];
  /** Mediated devices types. */
  mediatedDevicesTypes?: string[];
  /** Node mediated device types. */
  nodeMediatedDeviceTypes?: NodeMediatedDeviceTypesConfig[];
}

/** Node mediated device types config. */
export interface NodeMediatedDeviceTypesConfig {
  /** Mediated device types. */
  mediatedDeviceTypes?: string[];
  /** Mediated devices types. */
  mediatedDevicesTypes?: string[];
  /** Node selector. */
  nodeSelector: Record<string, string>;
}
