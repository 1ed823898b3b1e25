/** For tests: the launcher's bundle as a process of its own, with the folders of its pod in a temporary directory. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { bootSectorImage } from "@polyvirt/stack/conformance";

const repositoryRoot = join(import.meta.dirname, "../../../..");
/** Beside the package's node_modules, so that what is not bundled is found. */
const bundleDirectory = join(import.meta.dirname, "../../dist");

/** Bundles the main program of a launcher as the build does. */
export async function buildLauncher(role: string): Promise<string> {
  const bundlePath = join(bundleDirectory, `${role}.js`);
  await build({
    entryPoints: [join(repositoryRoot, `packages/cli/src/roles/${role}.ts`)],
    outfile: bundlePath,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["koffi"],
    banner: { js: 'import{createRequire as r}from"node:module";const require=r(import.meta.url);' },
    logLevel: "error",
  });
  return bundlePath;
}

export interface LauncherProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<number | null>;
  /** Everything that it logged. */
  output(): string;
}

export class TestPod {
  readonly directory: string;
  readonly vmi: VirtualMachineInstance;

  private constructor(directory: string, vmi: VirtualMachineInstance) {
    this.directory = directory;
    this.vmi = vmi;
  }

  /** A pod for a guest that boots the boot sector from a container disk. */
  static async make(): Promise<TestPod> {
    const directory = await mkdtemp(join(tmpdir(), "pod-"));
    const pod = new TestPod(directory, bootSectorVmi());
    await mkdir(pod.containerDisk("root", "disk"), { recursive: true });
    await mkdir(pod.path("public"));
    await writeFile(pod.containerDisk("root", "disk", "disk.img"), bootSectorImage());
    return pod;
  }

  path(...parts: string[]): string {
    return join(this.directory, ...parts);
  }

  containerDisk(...parts: string[]): string {
    return this.path("container-disks", ...parts);
  }

  get commandSocket(): string {
    return this.path("public", "sockets", "launcher-sock");
  }

  get notifySocket(): string {
    return this.path("public", "domain-notify-pipe.sock");
  }

  get serialSocket(): string {
    return this.path("private", String(this.vmi.metadata.uid), "virt-serial0");
  }

  start(bundle: string, ...extra: string[]): LauncherProcess {
    const { name, namespace, uid } = this.vmi.metadata;
    const flags = {
      name,
      namespace,
      uid,
      hypervisor: "kvm",
      "grace-period-seconds": "5",
      "qemu-timeout": "60s",
      "kubevirt-share-dir": this.path("public"),
      "private-dir": this.path("private"),
      "ephemeral-disk-dir": this.path("ephemeral"),
      "container-disk-dir": this.path("container-disks"),
    };
    const given = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
    const args = [...given, "--allow-emulation", ...extra];
    const child = spawn(process.execPath, [bundle, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
    // A child that could not be spawned has no pid, and every test fails at its first step then.
    return { child, pid: child.pid ?? 0, exited, output: () => output };
  }

  async dispose(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

function bootSectorVmi(): VirtualMachineInstance {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "tiny", namespace: "default", uid: "6f8a7c1e-0000-4000-8000-000000000001" },
    spec: {
      architecture: "amd64",
      domain: {
        machine: { type: "q35" },
        memory: { guest: "32Mi" },
        features: { acpi: { enabled: true } },
        devices: { disks: [{ name: "root", disk: { bus: "virtio" } }] },
      },
      volumes: [{ name: "root", containerDisk: { image: "example.com/tiny" } }],
    },
  };
}
