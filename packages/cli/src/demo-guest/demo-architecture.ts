/** The guests that can be built, by Kubernetes' names for their architectures. */
export type DemoArchitecture = "amd64" | "arm64" | "s390x";

export interface DemoProfile {
  /** Debian's meta package of the newest kernel. */
  readonly kernelPackage: string;
  /** What a disk gives its kernel; a VMI with kernelBoot says its own words. */
  readonly kernelArguments: string;
  /** The folder of libraries in Debian's packages. */
  readonly triplet: string;
  /** Where programs of this architecture look for the dynamic loader. */
  readonly loader: string;
  /** What a self-booting disk is started by. */
  readonly boot:
    | { readonly kind: "fat"; readonly efiLoader: string; readonly efiName: string; readonly bios: boolean }
    | { readonly kind: "ipl" };
  /** Loaded by init; the build fails where the kernel has none of that name. */
  readonly drivers: readonly string[];
  /** Loaded where the kernel has them. */
  readonly optionalDrivers: readonly string[];
}

const virtioDrivers = ["virtio_blk", "virtio_net", "virtio_console", "virtio_rng", "virtio_balloon", "virtio_scsi"];
const diskDrivers = ["sd_mod", "sr_mod", "ext4", "isofs"];
const fatDrivers = ["vfat", "nls_cp437", "nls_ascii"];

export const demoProfiles: Readonly<Record<DemoArchitecture, DemoProfile>> = {
  amd64: {
    kernelPackage: "linux-image-cloud-amd64",
    // A busy machine may starve the emulated timer at the moment when the kernel looks whether it works.
    kernelArguments: "console=ttyS0 quiet no_timer_check",
    triplet: "x86_64-linux-gnu",
    loader: "lib64/ld-linux-x86-64.so.2",
    boot: { kind: "fat", efiLoader: "systemd-bootx64.efi", efiName: "BOOTX64.EFI", bios: true },
    drivers: ["virtio_pci", ...virtioDrivers, ...diskDrivers, ...fatDrivers, "evdev", "button"],
    optionalDrivers: [
      "virtio_mem",
      "virtiofs",
      "tpm_tis",
      "tpm_crb",
      "i6300esb",
      "vmw_vsock_virtio_transport",
      "efivarfs",
    ],
  },
  arm64: {
    kernelPackage: "linux-image-cloud-arm64",
    kernelArguments: "console=ttyAMA0 quiet",
    triplet: "aarch64-linux-gnu",
    loader: "lib/ld-linux-aarch64.so.1",
    boot: { kind: "fat", efiLoader: "systemd-bootaa64.efi", efiName: "BOOTAA64.EFI", bios: false },
    drivers: ["virtio_pci", ...virtioDrivers, ...diskDrivers, ...fatDrivers, "evdev", "button"],
    optionalDrivers: ["virtio_mem", "virtiofs", "vmw_vsock_virtio_transport", "efivarfs"],
  },
  s390x: {
    kernelPackage: "linux-image-s390x",
    kernelArguments: "console=ttysclp0 quiet",
    triplet: "s390x-linux-gnu",
    loader: "lib/ld64.so.1",
    boot: { kind: "ipl" },
    drivers: [...virtioDrivers, ...diskDrivers],
    optionalDrivers: ["virtiofs"],
  },
};

export const demoArchitectures = Object.keys(demoProfiles) as readonly DemoArchitecture[];

/** This machine's architecture, when there is a demo guest for it. */
export function hostArchitecture(): DemoArchitecture {
  const names: Readonly<Record<string, DemoArchitecture>> = { x64: "amd64", arm64: "arm64", s390x: "s390x" };
  return names[process.arch] ?? "amd64";
}
