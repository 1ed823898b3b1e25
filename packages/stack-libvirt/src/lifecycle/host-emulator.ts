import { emulatorFor } from "./machine-definition.ts";

/** libvirt's names for the architectures that Node runs on. */
const names: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };

/** The architecture of this machine under libvirt's name for it. */
export function hostArchitecture(): string {
  return names[process.arch] ?? process.arch;
}

/** The emulator that most guests here need. */
export function hostEmulator(): string {
  return emulatorFor(hostArchitecture());
}
