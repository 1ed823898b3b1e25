// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Interface. */
export interface Interface {
  /** Name. */
  name: string;
  /** Acpi index. */
  acpiIndex?: number;
  /** Binding. */
  binding?: PluginBinding;
  /** Boot order. */
  bootOrder?: number;
  /** Bridge. */
  bridge?: InterfaceBridge;
  /** Dhcp options. */
  dhcpOptions?: DHCPOptions;
  /** Mac address. */
  macAddress?: string;
  /** Macvtap. */
  macvtap?: DeprecatedInterfaceMacvtap;
  /** Masquerade. */
  masquerade?: InterfaceMasquerade;
  /** Model. */
  model?: "virtio" | "e1000" | "e1000e" | "igb" | "ne2k_pci" | "pcnet" | "rtl8139" | (string & {});
  /** Passt. */
  passt?: DeprecatedInterfacePasst;
  /** Passt binding. */
  passtBinding?: InterfacePasstBinding;
  /** Pci address. */
  pciAddress?: string;
  /** Port ranges. */
  portRanges?: PortRange[];
  /** Ports. */
  ports?: Port[];
  /** Slirp. */
  slirp?: DeprecatedInterfaceSlirp;
  /** Sriov. */
  sriov?: InterfaceSRIOV;
  /** State. */
  state?: "up" | "down" | "absent" | (string & {});
  /** Tag. */
  tag?: string;
}

/** Interface bridge. */
export type InterfaceBridge = Record<string, never>;

/** Interface masquerade. */
export type InterfaceMasquerade = Record<string, never>;

/** Interface passt binding. */
export type InterfacePasstBinding = Record<string, never>;

/** Interface SRIOV. */
export type InterfaceSRIOV = Record<string, never>;

/** Plugin binding. */
export interface PluginBinding {
  /** Name. */
  name: string;
}

/** Deprecated interface macvtap. */
export type DeprecatedInterfaceMacvtap = Record<string, never>;

/** Deprecated interface passt. */
export type DeprecatedInterfacePasst = Record<string, never>;

/** Deprecated interface slirp. */
export type DeprecatedInterfaceSlirp = Record<string, never>;

/** DHCP options. */
export interface DHCPOptions {
  /** Boot file name. */
  bootFileName?: string;
  /** Ntp servers. */
  ntpServers?: string[];
  /** Private options. */
  privateOptions?: DHCPPrivateOptions[];
  /** Tftp server name. */
  tftpServerName?: string;
}

/** DHCP private options. */
export interface DHCPPrivateOptions {
  /** Option. */
  option: number;
  /** Value. */
  value: string;
}

/** Port. */
export interface Port {
  /** Name. */
  name?: string;
  /** Port. */
  port: number;
  /** Protocol. */
  protocol?: "TCP" | "UDP" | (string & {});
}

/** Port range. */
export interface PortRange {
  /** End. */
  end: number;
  /** Protocol. */
  protocol: string;
  /** Start. */
  start: number;
}

/** Virtual machine instance network interface. */
export interface VirtualMachineInstanceNetworkInterface {
  /** Name. */
  name?: string;
  /** Info source. */
  infoSource?: string;
  /** Interface name. */
  interfaceName?: string;
  /** Ip address. */
  ipAddress?: string;
  /** Ip addresses. */
  ipAddresses?: string[];
  /** Link state. */
  linkState?: string;
  /** Mac. */
  mac?: string;
  /** Pod interface name. */
  podInterfaceName?: string;
  /** Queue count. */
  queueCount?: number;
}
