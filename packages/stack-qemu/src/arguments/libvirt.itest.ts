/**
 * Our arguments beside libvirt's own for the same machines (the converter's samples): the same devices with the same
 * properties, up to the differences that are listed and explained here.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readDomain, writeDomain, type Domain } from "@polyvirt/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testHost } from "../testing/machine-host.ts";
import { buildArguments } from "./build-arguments.ts";

const programs = ["/usr/sbin/libvirtd", "/usr/bin/virsh", "/usr/bin/qemu-system-x86_64"];
const missing = programs.filter((program) => !existsSync(program));
const skipped = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")} not installed)`;
const testdata = new URL("../../../hypervisor/src/testdata/", import.meta.url);

describe.skipIf(missing.length > 0)(`libvirt's arguments${skipped}`, () => {
  let folder: string;
  let daemon: ChildProcess;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "libvirt-"));
    await prepareDaemon(folder);
    const script = fileURLToPath(new URL("libvirtd.sh", testdata));
    const own = process.getuid?.() === 0 ? [] : ["--map-root-user"];
    daemon = spawn("unshare", ["--mount", "--propagation", "private", ...own, "sh", script, folder], {
      stdio: "ignore",
    });
    for (let waited = 0; !existsSync(join(folder, "run/libvirt-sock")); waited += 50) {
      if (waited > 50_000 || daemon.exitCode !== null) throw new Error("libvirtd does not start");
      await new Promise((done) => setTimeout(done, 50));
    }
  }, 60_000);
  afterAll(async () => {
    daemon.kill("SIGTERM");
    await new Promise((done) => daemon.once("exit", done));
    await rm(folder, { recursive: true });
  });

  it.each(["kernel-boot.kvm-amd64", "minimal.kvm-amd64", "disks.kvm-amd64", "services.kvm-amd64", "desktop.kvm-amd64"])(
    "%s",
    async (sample) => {
      const machine = emulated(readDomain(readFileSync(new URL(`${sample}.xml`, testdata), "utf8")));
      const file = join(folder, `${sample}.xml`);
      await writeFile(file, writeDomain(machine));
      const uri = `qemu+unix:///system?socket=${folder}/run/libvirt-sock`;
      const native = execFileSync("virsh", ["--quiet", "-c", uri, "domxml-to-native", "qemu-argv", "--xml", file], {
        encoding: "utf8",
      });
      const ours = buildArguments(machine, testHost).args;
      expect(devicesOf(ours)).toEqual(devicesOf(splitArguments(native)));
    },
    30_000,
  );
});

async function prepareDaemon(folder: string): Promise<void> {
  for (const name of ["etc", "bin"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "etc/libvirtd.conf"), 'auth_unix_rw = "none"\nunix_sock_group = "root"\n');
  const settings = ['user = "root"', 'group = "root"', 'security_driver = "none"', "namespaces = []"];
  await writeFile(
    join(folder, "etc/qemu.conf"),
    `${settings.join("\n")}\ncgroup_controllers = []\nstdio_handler = "file"\n`,
  );
  for (const program of ["qemu-system-x86_64", "swtpm", "swtpm_setup", "swtpm_ioctl"]) {
    if (existsSync(`/usr/bin/${program}`)) await symlink(`/usr/bin/${program}`, join(folder, "bin", program));
  }
}

/** The sample as a machine that needs no KVM, because the machine that runs this test may have none. */
function emulated(domain: Domain): Domain {
  const { hyperv: _hyperv, kvm: _kvm, pvspinlock: _spinlock, pmu: _pmu, ...features } = domain.features ?? {};
  const cpu: Domain["cpu"] = { ...domain.cpu, mode: "maximum", features: undefined };
  const interfaces = domain.devices?.interfaces?.filter(({ backend }) => backend?.type !== "passt");
  return { ...domain, type: "qemu", features, cpu, devices: { ...domain.devices, interfaces } };
}

/** Properties that may differ, and why. */
const explained: readonly {
  readonly key: string;
  readonly why: string;
  readonly when?: (value: unknown) => boolean;
}[] = [
  { key: "bus", why: "libvirt chooses a place for each device, we leave that to QEMU" },
  { key: "addr", why: "as bus" },
  { key: "port", why: "as bus" },
  { key: "multifunction", why: "as bus" },
  { key: "drive", why: "block nodes have other names" },
  { key: "netdev", why: "network back ends have other names" },
  { key: "tpmdev", why: "TPM back ends have other names" },
  { key: "audiodev", why: "audio back ends have other names" },
  { key: "chardev", why: "character devices have other names" },
  {
    key: "bootindex",
    why: "without an order libvirt names the first disk; so does the firmware",
    when: (value) => value === 1,
  },
  { key: "write-cache", why: "on is QEMU's own default", when: (value) => value === "on" },
  { key: "device_id", why: "libvirt names SCSI disks after their drives; QEMU then does so itself" },
  { key: "discard_granularity", why: "older versions of libvirt do not know it" },
  { key: "vhostfd", why: "libvirt opens the node's device itself; QEMU does it here" },
  { key: "mac", why: "for a definition that names none libvirt draws one" },
  { key: "host_mtu", why: "when it only translates, libvirt forgets what it knows of the host's network" },
  { key: "id", why: "as host_mtu", when: (value) => value === "net0" || value === "ua-default" },
  { key: "id", why: "libvirt gives the panic device no name", when: (value) => value === "panic0" },
  { key: "romfile", why: "virtio cards get no boot ROM; libvirt loads QEMU's own", when: (value) => value === "" },
];

function devicesOf(args: readonly string[]): string[] {
  return (
    args
      .flatMap((arg, index) => (args[index - 1] === "-device" ? [JSON.parse(arg) as Record<string, unknown>] : []))
      // libvirt puts each PCI device behind a port of its own.
      .filter(({ driver }) => driver !== "pcie-root-port" && driver !== "pcie-pci-bridge")
      .map((device) =>
        Object.entries(device).filter(
          ([key, value]) =>
            !explained.some((difference) => difference.key === key && (difference.when?.(value) ?? true)),
        ),
      )
      .map((entries) => JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b)))))
      .toSorted()
  );
}

/** virsh prints a line for the shell: words in quotes, with backslashes at line ends. */
function splitArguments(text: string): string[] {
  return [...text.replaceAll("\\\n", " ").matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
}
