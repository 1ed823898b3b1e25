/** Guest and host architectures, under the names that Go, Kubernetes and `spec.architecture` use. */
export const architectures = ["amd64", "arm64", "s390x"] as const;

export type Architecture = (typeof architectures)[number];

/** The same architectures as QEMU, libvirt and `uname` call them. */
const machineNames: Readonly<Record<string, Architecture>> = { x86_64: "amd64", aarch64: "arm64", s390x: "s390x" };

/** Reads either spelling; `undefined` for an architecture that Polyvirt has no profile for. */
export function parseArchitecture(name: string): Architecture | undefined {
  return architectures.find((known) => known === name) ?? machineNames[name];
}
