import { eventually, type TestCluster } from "./cluster.ts";
import { run } from "./run.ts";

interface NetworkGuest {
  readonly name: string;
  /** Interface named `default`, as YAML in one line. */
  readonly iface: string;
  /** Pod network, as YAML in one line. */
  readonly network?: string;
  readonly node?: string;
}

interface ConnectedVmi {
  status?: {
    phase?: string;
    interfaces?: { name?: string; ipAddress?: string; mac?: string; podInterfaceName?: string; linkState?: string }[];
  };
}

/** The demo guest, which asks for its address over DHCP and serves its name on port 80. */
export function networkGuest({ name, iface, network = "{}", node = "node-1" }: NetworkGuest): string {
  return `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: ${name} }
spec:
  domain:
    memory: { guest: 128Mi }
    firmware:
      kernelBoot:
        # On a busy machine an emulated guest takes its own timer for broken.
        kernelArgs: console=ttyS0 quiet no_timer_check hostname=${name}
        container: { image: "polyvirt.local/demo-guest-amd64:1", kernelPath: /boot/vmlinuz, initrdPath: /boot/initramfs }
    devices: { interfaces: [${iface}] }
  networks: [{ name: default, pod: ${network} }]
  nodeSelector: { kubernetes.io/hostname: ${node} }
  terminationGracePeriodSeconds: 0
`;
}

export async function buildGuest(cluster: TestCluster): Promise<void> {
  const { code, stdout, stderr } = await cluster.polyvirt("image", "build-demo", "--arch", "amd64");
  if (code !== 0) throw new Error(`the demo guest could not be built: ${stdout}\n${stderr}`);
}

/** A command for the guest's shell that prints what a web server says, by the simplest program that the guest has. */
export function askFor(address: string): string {
  return String.raw`printf 'GET / HTTP/1.0\r\n\r\n' | nc ${address} 80`;
}

/** The address that a running guest's status names, once it is there. */
export async function guestAddress(cluster: TestCluster, name: string): Promise<string> {
  const { status } = await eventually(
    () => cluster.json<ConnectedVmi>("get", "vmi", name),
    (vmi) => vmi.status?.phase === "Running" && vmi.status.interfaces?.[0]?.linkState !== undefined,
    120_000,
  );
  return status?.interfaces?.[0]?.ipAddress ?? "";
}

/** What a web server says; empty when nobody answers. */
export async function fetchText(url: string): Promise<string> {
  const { stdout } = await run("curl", ["--silent", "--max-time", "3", url]);
  return stdout.trim();
}

/** What a guest's web server says, once it has booted. */
export function guestWords(url: string): Promise<string> {
  return eventually(
    () => fetchText(url),
    (words) => words !== "",
    120_000,
  );
}
