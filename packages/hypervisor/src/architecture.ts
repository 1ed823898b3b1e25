/** Guest and host architectures, under the names that Go, Kubernetes and `spec.architecture` use. */
export const architectures = ["amd64", "arm64", "s390x"] as const;

export type Architecture = (typeof architectures)[number];

/** The same architectures as QEMU, libvirt and `uname` call them, and as Node does. */
const otherNames: Readonly<Record<string, Architecture>> = { x86_64: "amd64", x64: "amd64", aarch64: "arm64" };

/** Reads any of these spellings; `undefined` for an architecture that Polyvirt has no profile for. */
export function parseArchitecture(name: string): Architecture | undefined {
  return architectures.find((known) => known === name) ?? otherNames[name];
}
