/** The parts of a VirtualMachineInstance that tests look at. */
export interface Vmi {
  metadata: { name: string; uid: string };
  status?: {
    phase?: string;
    nodeName?: string;
    reason?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
}

interface GuestOptions {
  readonly memory?: string;
  readonly kernelImage?: string;
  readonly diskBus?: string;
  readonly extra?: string;
}

/** The demo guest under another name. */
export function guestManifest(name: string, options: GuestOptions = {}): string {
  return `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: ${name}
spec:
  domain:
    memory: { guest: ${options.memory ?? "128Mi"} }
    firmware:
      kernelBoot:
        kernelArgs: console=ttyS0 quiet no_timer_check hostname=${name}
        container:
          image: ${options.kernelImage ?? "polyvirt.local/demo-kernel:1"}
          kernelPath: /boot/vmlinuz
          initrdPath: /boot/initramfs
    devices:
      autoattachPodInterface: false
      disks: [{ name: words, disk: { bus: ${options.diskBus ?? "virtio"} } }]
  terminationGracePeriodSeconds: 10
  volumes: [{ name: words, containerDisk: { image: "polyvirt.local/demo-disk:1" } }]
${options.extra ?? ""}`;
}
