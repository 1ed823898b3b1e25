// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A network interface. One field says how it is connected to its network. */
export interface Interface {
  /** Network that it connects to. */
  name: string;
  /** Number by which the guest can name it. */
  acpiIndex?: number;
  /** Connected by a plug-in. */
  binding?: PluginBinding;
  /** Place in the order in which devices are tried at the start; from 1. */
  bootOrder?: number;
  /** Connected by a bridge to the pod's interface. */
  bridge?: InterfaceBridge;
  /** What the guest is told by DHCP. */
  dhcpOptions?: DHCPOptions;
  /** Its MAC address; a random one when unset. */
  macAddress?: string;
  /** No longer supported; use binding. */
  macvtap?: DeprecatedInterfaceMacvtap;
  /** Connected by network address translation. */
  masquerade?: InterfaceMasquerade;
  /** Its model; virtio when unset. */
  model?: "virtio" | "e1000" | "e1000e" | "igb" | "ne2k_pci" | "pcnet" | "rtl8139" | (string & {});
  /** No longer supported; use passtBinding. */
  passt?: DeprecatedInterfacePasst;
  /** Connected by passt. */
  passtBinding?: InterfacePasstBinding;
  /** PCI address that it gets, for example 0000:81:01.0. */
  pciAddress?: string;
  /** Ranges of ports that reach the guest. */
  portRanges?: PortRange[];
  /** Ports that reach the guest; all when empty. */
  ports?: Port[];
  /** No longer supported. */
  slirp?: DeprecatedInterfaceSlirp;
  /** The guest gets a virtual function of a network card. */
  sriov?: InterfaceSRIOV;
  /** Whether the link is up, down, or the interface is gone. */
  state?: "up" | "down" | "absent" | (string & {});
  /** Name that cloud-init tells the guest. */
  tag?: string;
}

/** Present to connect by a bridge. */
export type InterfaceBridge = Record<string, never>;

/** Present to connect by network address translation. */
export type InterfaceMasquerade = Record<string, never>;

/** Present to connect by passt. */
export type InterfacePasstBinding = Record<string, never>;

/** Present to pass a virtual function of a network card. */
export type InterfaceSRIOV = Record<string, never>;

/** A network binding that a plug-in adds. */
export interface PluginBinding {
  /** Its name in the configuration of the cluster. */
  name: string;
}

/** No longer supported. */
export type DeprecatedInterfaceMacvtap = Record<string, never>;

/** No longer supported. */
export type DeprecatedInterfacePasst = Record<string, never>;

/** No longer supported. */
export type DeprecatedInterfaceSlirp = Record<string, never>;

/** What a guest is told by DHCP. */
export interface DHCPOptions {
  /** File to start from. */
  bootFileName?: string;
  /** Time servers. */
  ntpServers?: string[];
  /** Options of private use. */
  privateOptions?: DHCPPrivateOptions[];
  /** Server of that file. */
  tftpServerName?: string;
}

/** A DHCP option of private use. */
export interface DHCPPrivateOptions {
  /** Its number, from 224 to 254. */
  option: number;
  /** Its value. */
  value: string;
}

/** A port that reaches the guest. */
export interface Port {
  /** Name of the port, unique in the pod. */
  name?: string;
  /** Its number. */
  port: number;
  /** TCP when unset. */
  protocol?: "TCP" | "UDP" | (string & {});
}

/** A range of ports that reach the guest. */
export interface PortRange {
  /** Last port. */
  end: number;
  /** TCP when unset. */
  protocol: string;
  /** First port. */
  start: number;
}

/** A network interface as the guest has it. */
export interface VirtualMachineInstanceNetworkInterface {
  /** Network that it connects to. */
  name?: string;
  /** Who said so: domain, guest-agent, multus-status. */
  infoSource?: string;
  /** Name of the interface in the guest. */
  interfaceName?: string;
  /** First address. */
  ipAddress?: string;
  /** All addresses. */
  ipAddresses?: string[];
  /** Whether the link is up. */
  linkState?: string;
  /** MAC address. */
  mac?: string;
  /** Name of the interface in the pod. */
  podInterfaceName?: string;
  /** Number of queues. */
  queueCount?: number;
}
