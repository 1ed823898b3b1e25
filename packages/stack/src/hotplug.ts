import type { Domain } from "@polyvirt/domain";

type Devices = NonNullable<Domain["devices"]>;
type DomainDisk = NonNullable<Devices["disks"]>[number];
type DomainInterface = NonNullable<Devices["interfaces"]>[number];

/** Changing the hardware of a running machine. Devices are known by the name of their alias. */
export interface Hotplug {
  /** How many of its PCI ports a machine's own devices take when it starts; none where they are placed elsewhere. */
  portsTaken?(definition: Domain): number;
  attachDisk(disk: DomainDisk): Promise<void>;
  /** Asks the guest to let go of the disk; `deviceRemoved` tells when it has. */
  detachDisk(alias: string): Promise<void>;
  resizeDisk(alias: string, bytes: number): Promise<void>;
  attachInterface(device: DomainInterface): Promise<void>;
  detachInterface(alias: string): Promise<void>;
  setLink(alias: string, up: boolean): Promise<void>;
  setVcpuCount(count: number): Promise<void>;
  setMemory(bytes: number): Promise<void>;
}
