/** What differs between guest architectures in QEMU's arguments. */
export interface GuestArchitecture {
  readonly name: "x86_64" | "aarch64" | "s390x";
  /** The machine that runs, as asked for. */
  readonly machineType: string;
  readonly emulator: string;
  /** Bus of virtio devices, which is part of their names: `virtio-blk-pci`. */
  readonly virtioBus: "pci" | "ccw";
  /** The CPU that software emulation gives a guest that asks for the host's. */
  readonly emulatedHostCpu: EmulatedCpu;
  /** The CPU of a guest that asks for none; undefined leaves it to the machine. */
  readonly defaultCpu: string | undefined;
  /** Id that QEMU itself gives the main memory, which a migrated guest must find again. */
  readonly memoryId: string;
  /** Main PCI bus, where there is one. */
  readonly pciBus: string | undefined;
}

interface EmulatedCpu {
  readonly model: string;
  readonly flags: Readonly<Record<string, boolean>>;
}

type Profile = Omit<GuestArchitecture, "machineType">;

const profiles: Readonly<Record<string, Profile>> = {
  x86_64: {
    name: "x86_64",
    emulator: "/usr/bin/qemu-system-x86_64",
    virtioBus: "pci",
    emulatedHostCpu: { model: "max", flags: {} },
    defaultCpu: undefined,
    memoryId: "pc.ram",
    pciBus: "pcie.0",
  },
  aarch64: {
    name: "aarch64",
    emulator: "/usr/bin/qemu-system-aarch64",
    virtioBus: "pci",
    // Emulated pointer authentication makes a guest four times slower.
    emulatedHostCpu: { model: "max", flags: { pauth: false } },
    // The machine's own default is a 32-bit CPU.
    defaultCpu: "cortex-a57",
    memoryId: "mach-virt.ram",
    pciBus: "pcie.0",
  },
  s390x: {
    name: "s390x",
    emulator: "/usr/bin/qemu-system-s390x",
    virtioBus: "ccw",
    emulatedHostCpu: { model: "max", flags: {} },
    defaultCpu: undefined,
    memoryId: "s390.ram",
    pciBus: undefined,
  },
};

export const knownArchitectures: readonly string[] = Object.keys(profiles);

export function guestArchitecture(name: string, machineType: string): GuestArchitecture | undefined {
  const profile = profiles[name];
  if (profile === undefined) return undefined;
  // PC machines before q35 have a plain PCI bus.
  const pci = machineType === "pc" || machineType.startsWith("pc-i440fx") ? { pciBus: "pci.0" } : {};
  return { ...profile, ...pci, machineType };
}
