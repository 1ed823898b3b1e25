import { defineHypervisor } from "../define-hypervisor.ts";

/** Linux' own hypervisor: the base is made for it, so it only says its names. */
export const kvm = defineHypervisor({
  name: "kvm",
  node: { hypervisorDevice: "kvm", virtType: "kvm", architectures: ["amd64", "arm64", "s390x"] },
  processes: {
    vmmPrefixes: ["qemu-system", "qemu-kvm"],
    vcpuThreadWords: ["CPU ", "KVM"],
    pitThreadPrefix: "kvm-pit/",
  },
});
