// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Devices of nodes that guests may have. */
export interface PermittedHostDevices {
  /** Mediated devices, such as virtual GPUs. */
  mediatedDevices?: MediatedHostDevice[];
  /** PCI devices. */
  pciHostDevices?: PciHostDevice[];
  /** USB devices. */
  usb?: USBHostDevice[];
}

/** A type of mediated device. */
export interface MediatedHostDevice {
  /** Another device plug-in offers it to the kubelet. */
  externalResourceProvider?: boolean;
  /** Name of the type, as nodes show it. */
  mdevNameSelector: string;
  /** Resource by which guests ask for it. */
  resourceName: string;
}

/** A model of PCI device. */
export interface PciHostDevice {
  /** Another device plug-in offers it to the kubelet. */
  externalResourceProvider?: boolean;
  /** Vendor and device number, for example 10de:1eb8. */
  pciVendorSelector: string;
  /** Resource by which guests ask for it. */
  resourceName: string;
}

/** One or more USB devices that belong together. */
export interface USBHostDevice {
  /** Another device plug-in offers it to the kubelet. */
  externalResourceProvider?: boolean;
  /** Resource by which guests ask for it. */
  resourceName: string;
  /** The devices. */
  selectors?: USBSelector[];
}

/** A model of USB device. */
export interface USBSelector {
  /** Product number, in hexadecimal. */
  product: string;
  /** Vendor number, in hexadecimal. */
  vendor: string;
}

/** Mediated devices that nodes create. */
export interface MediatedDevicesConfiguration {
  /** Let virt-handler create and remove them; true when unset. */
  enabled?: boolean;
  /** Types to create on all nodes. */
  mediatedDeviceTypes?: string[];
  /** Older spelling of mediatedDeviceTypes. */
  mediatedDevicesTypes?: string[];
  /** Types to create on some nodes instead. */
  nodeMediatedDeviceTypes?: NodeMediatedDeviceTypesConfig[];
}

/** Mediated device types of some nodes. */
export interface NodeMediatedDeviceTypesConfig {
  /** The types. */
  mediatedDeviceTypes?: string[];
  /** Older spelling of mediatedDeviceTypes. */
  mediatedDevicesTypes?: string[];
  /** Labels of the nodes. */
  nodeSelector: Record<string, string>;
}
