/** An interface of a VMI that was connected to its pod's network: what the launcher needs to know, and its status. */
export interface PreparedInterface {
  readonly name: string;
  /** Missing when the launcher needs no device to connect it (passt). */
  readonly tapName?: string;
  readonly mtu: number;
  /** The guest's. */
  readonly macAddress: string;
  /** By which others reach the guest. */
  readonly podAddresses: readonly string[];
  readonly podInterfaceName: string;
  /** What the guest is told over DHCP. */
  readonly lease?: {
    readonly bridge: string;
    readonly serverAddress: string;
    readonly address: string;
    readonly gateway: string;
    readonly routes: readonly { readonly destination: string; readonly gateway: string }[];
  };
}
