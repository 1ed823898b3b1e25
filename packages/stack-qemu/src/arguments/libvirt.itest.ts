/**
 * Our arguments beside libvirt's own for the same machines: the same devices with the same properties, up to the
 * differences that are listed and explained here. The machines are the converter's samples and, where they are at hand, a
 * part of libvirt's test domains.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readDomain, writeDomain, type Domain } from "@polyvirt/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testHost } from "../testing/machine-host.ts";
import { emulated, machinesOf } from "../testing/qemu-trial.ts";
import { buildArguments } from "./build-arguments.ts";

const programs = ["/usr/sbin/libvirtd", "/usr/bin/virsh", "/usr/bin/qemu-system-x86_64"];
const missing = programs.filter((program) => !existsSync(program));
const skipped = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")} not installed)`;
const corpus = new URL("../../../../../shared/libvirt/domains/", import.meta.url);
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
      const machine = withoutPasst(read(new URL(`${sample}.xml`, testdata)));
      const ours = buildArguments(machine, testHost).args;
      expect(devicesOf(ours)).toEqual(devicesOf(await native(machine)));
    },
    30_000,
  );

  it.skipIf(!existsSync(corpus))(
    "libvirt's test domains",
    async () => {
      const files = readdirSync(corpus).filter((file) => file.endsWith(".xml") && compared.test(file));
      const part = files.filter((_, index) => index % corpusStride === 0);
      const differences: string[] = [];
      let count = 0;
      for (const file of part) {
        const machine = read(new URL(file, corpus));
        // What one of the two does not take is not compared; other tests say what we refuse.
        const [ours, theirs] = [
          attempt(() => buildArguments(machine, testHost).args),
          await native(machine).catch(() => []),
        ];
        if (ours === undefined || theirs.length === 0) continue;
        count += 1;
        differences.push(...missingOf(parseDevices(theirs), parseDevices(ours)).map((words) => `${file}: ${words}`));
      }
      expect(differences).toEqual([]);
      expect(count).toBeGreaterThan(40);
    },
    120_000,
  );

  function read(file: URL): Domain {
    return emulated(readDomain(readFileSync(file, "utf8")), machines);
  }

  async function native(machine: Domain): Promise<string[]> {
    const file = join(folder, "machine.xml");
    await writeFile(file, writeDomain(machine));
    const uri = `qemu+unix:///system?socket=${folder}/run/libvirt-sock`;
    const args = ["--quiet", "-c", uri, "domxml-to-native", "qemu-argv", "--xml", file];
    return splitArguments(execFileSync("virsh", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  }
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

/** Kinds of devices that this version of libvirt knows well, and every so many of their files. */
const compared =
  /^(balloon|boot|channel|clock|console|controller|cpu-numa|disk|input|memory|panic|pci|q35|serial|sound|usb|video|virtio|watchdog)-/;
const corpusStride = 4;

const machines = missing.length > 0 ? new Set<string>() : machinesOf("/usr/bin/qemu-system-x86_64");

/** libvirt starts passt itself, even when it only translates. */
function withoutPasst(domain: Domain): Domain {
  const interfaces = domain.devices?.interfaces?.filter(({ backend }) => backend?.type !== "passt");
  return { ...domain, devices: { ...domain.devices, interfaces } };
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

type Device = Readonly<Record<string, unknown>>;

/** Devices that libvirt adds to every machine, and their places; a machine of ours has what its definition says. */
const added = /^(pcie-root-port|pcie-pci-bridge|piix3-usb-uhci|qemu-xhci|usb-hub|virtio-balloon-(pci|ccw))$/;

/** Properties that libvirt states and we leave to QEMU, whose default is the same. */
const defaults: Device = { vram64_size_mb: 0, max_outputs: 1, vgamem_mb: 16, vgamem: 16_777_216, rerror: undefined };
const chosenByLibvirt = new Set(["bus", "addr", "port", "multifunction", "id", "device_id", "devno", "mac", "drive"]);
const namesOfBackends = new Set(["chardev", "netdev", "rng", "memdev", "audiodev", "tpmdev", "vhostfd"]);

/** What libvirt's devices have and none of ours has. */
function missingOf(theirs: readonly Device[], ours: readonly Device[]): string[] {
  const left = [...ours];
  return theirs.flatMap((device) => {
    const found = left.findIndex((other) =>
      Object.entries(device).every(([key, value]) => agree(key, value, other[key])),
    );
    if (found >= 0) left.splice(found, 1);
    return found >= 0 || added.test(String(device["driver"])) ? [] : [JSON.stringify(device)];
  });
}

function agree(key: string, theirs: unknown, ours: unknown): boolean {
  if (chosenByLibvirt.has(key) || namesOfBackends.has(key)) return true;
  return JSON.stringify(theirs) === JSON.stringify(ours ?? defaults[key]);
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

function parseDevices(args: readonly string[]): Device[] {
  return args.flatMap((arg, index) => (args[index - 1] === "-device" ? [JSON.parse(arg) as Device] : []));
}

function devicesOf(args: readonly string[]): string[] {
  return (
    parseDevices(args)
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
