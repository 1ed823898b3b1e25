/** The parts of the machine definition that builders name, found by their place in it. */
import type { Domain } from "@polyvirt/domain";

type Part<T, K extends keyof T> = NonNullable<T[K]>;
type Each<T, K extends keyof T> = NonNullable<T[K]> extends readonly (infer Item)[] ? Item & object : never;

type Devices = Part<Domain, "devices">;
export type Cpu = Part<Domain, "cpu">;
export type Timer = Each<Part<Domain, "clock">, "timers">;
export type Features = Part<Domain, "features">;
export type Os = Part<Domain, "os">;
export type Disk = Each<Devices, "disks">;
export type DiskSource = Part<Disk, "source">;
export type DiskTarget = Part<Disk, "target">;
export type BackingStore = Part<Disk, "backingStore">;
export type Controller = Each<Devices, "controllers">;
export type Interface = Each<Devices, "interfaces">;
export type PortForward = Each<Interface, "portForwards">;
export type Serial = Each<Devices, "serials">;
export type Console = Each<Devices, "consoles">;
export type Channel = Each<Devices, "channels">;
export type CharacterSource = Each<Serial, "sources">;
export type Hostdev = Each<Devices, "hostdevs">;
export type HostdevAddress = Part<Part<Hostdev, "source">, "address">;
export type Iommu = Each<Devices, "iommus">;
export type Sound = Each<Devices, "sounds">;
export type MemoryDevice = Each<Devices, "memorydevs">;
export type Video = Each<Devices, "videos">;
export type VideoModel = Part<Each<Devices, "videos">, "model">;
export type Alias = Part<Disk, "alias">;
export type Address = Part<Disk, "address">;
export type AcpiIndex = Part<Disk, "acpi">;
export type Boot = Part<Disk, "boot">;
/** Options that every virtio device has. */
export type VirtioDriver = Part<Each<Devices, "rngs">, "driver">;
