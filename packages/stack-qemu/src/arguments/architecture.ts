/** What differs between guest architectures in QEMU's arguments. */
export interface GuestArchitecture {
  readonly name: "x86_64" | "aarch64" | "s390x";
  /** The machine that runs, as asked for. */
  readonly machineType: string;
  readonly emulator: string;
  /** Machines of this architecture whose devices are known, with their versions. */
  readonly machines: RegExp;
  /** The machine of a definition that names none, as libvirt chooses it. */
  readonly defaultMachine: string;
  /** Bus of virtio devices, which is part of their names: `virtio-blk-pci`. */
  readonly virtioBus: "pci" | "ccw";
  /** The CPU that software emulation gives a guest that asks for the host's. */
  readonly emulatedHostCpu: EmulatedCpu;
  /** The CPU of a guest that asks for none; undefined leaves it to the machine. */
  readonly defaultCpu: string | undefined;
  /** What the machine itself chooses then, with software emulation and with a hypervisor. */
  readonly plainCpu: Readonly<Record<"emulated" | "native", string>>;
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
    machines: /^(pc|q35)(-|$)/,
    defaultMachine: "pc",
    virtioBus: "pci",
    emulatedHostCpu: { model: "max", flags: {} },
    defaultCpu: undefined,
    plainCpu: { emulated: "qemu64", native: "qemu64" },
    memoryId: "pc.ram",
    pciBus: "pcie.0",
  },
  aarch64: {
    name: "aarch64",
    emulator: "/usr/bin/qemu-system-aarch64",
    machines: /^virt(-|$)/,
    defaultMachine: "virt",
    virtioBus: "pci",
    // Emulated pointer authentication makes a guest four times slower.
    emulatedHostCpu: { model: "max", flags: { pauth: false } },
    // The machine's own default is a 32-bit CPU.
    defaultCpu: "cortex-a57",
    plainCpu: { emulated: "cortex-a57", native: "host" },
    memoryId: "mach-virt.ram",
    pciBus: "pcie.0",
  },
  s390x: {
    name: "s390x",
    emulator: "/usr/bin/qemu-system-s390x",
    machines: /^s390-ccw-virtio(-|$)/,
    defaultMachine: "s390-ccw-virtio",
    virtioBus: "ccw",
    emulatedHostCpu: { model: "max", flags: {} },
    defaultCpu: undefined,
    plainCpu: { emulated: "qemu", native: "host" },
    memoryId: "s390.ram",
    pciBus: undefined,
  },
};

export const knownArchitectures: readonly string[] = Object.keys(profiles);

export function guestArchitecture(name: string, machine?: string): GuestArchitecture | undefined {
  const profile = profiles[name];
  if (profile === undefined) return undefined;
  const machineType = machine ?? profile.defaultMachine;
  // PC machines other than q35 have a plain PCI bus.
  const pci = /^pc(-(?!q35)|$)/.test(machineType) ? { pciBus: "pci.0" } : {};
  return { ...profile, ...pci, machineType };
}
