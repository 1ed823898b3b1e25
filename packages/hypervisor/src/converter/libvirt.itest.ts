/**
 * What we make, given to a real libvirt: it must define every machine and know how to start it. Covers the VMIs of
 * `testdata/`, KubeVirt's examples where they are at hand, and the generated set of every machine field on every
 * architecture. `hyperv` guests are missing here: no packaged libvirt knows them yet (their schema is tested elsewhere).
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { validateDomain, writeDomain, type Domain } from "@polyvirt/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { architectures, parseArchitecture } from "../architecture.ts";
import { convertFields, fieldsOf } from "../testing/field-cases.ts";
import { machineSamples } from "../testing/field-samples.ts";
import { convertSample, samples, type Acceleration } from "../testing/samples.ts";
import { convertExamples } from "../testdata/examples.ts";

const find = (program: string): string | undefined =>
  ["/usr/bin", "/usr/sbin"].map((folder) => join(folder, program)).find((path) => existsSync(path));

const needed = ["libvirtd", "virsh", "unshare", "qemu-system-x86_64"];
const missing = needed.filter((program) => find(program) === undefined);
const skipped = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")} not installed)`;

/** What stands between a right machine and this libvirt, apart from the machine. */
const limits: readonly { readonly words: RegExp; readonly why: string }[] = [
  { words: /the CPU is incompatible with host CPU/, why: "the host's CPU lacks the chosen model or feature" },
  { words: /does not support virt type 'kvm'|KVM is not supported/, why: "the host has no KVM" },
  { words: /'passt'/, why: "this libvirt is built without passt" },
  { words: /NUMA node \d+ is unavailable/, why: "the host has fewer NUMA nodes than the placement assumes" },
  { words: /hugetlbfs filesystem is not mounted/, why: "the host has no huge pages" },
  { words: /TPM version '2\.0' is not supported/, why: "swtpm is not installed" },
  { words: /Cannot check QEMU binary|No such file or directory/, why: "the emulator is not installed" },
  { words: /SEV|launch security|sev-guest/i, why: "the host has no encrypted guests" },
];

interface Machine {
  readonly name: string;
  readonly domain: Domain;
}

interface Answer {
  readonly name: string;
  readonly errors: readonly string[];
}

/** One private daemon, and a client that sends it many commands in one go. */
class Libvirt {
  readonly folder: string;
  readonly #daemon: ChildProcess;

  private constructor(folder: string, daemon: ChildProcess) {
    this.folder = folder;
    this.#daemon = daemon;
  }

  static async start(): Promise<Libvirt> {
    const folder = await mkdtemp(join(tmpdir(), "libvirt-"));
    for (const name of ["etc", "bin", "xml"]) await mkdir(join(folder, name));
    await writeFile(join(folder, "etc/libvirtd.conf"), 'auth_unix_rw = "none"\nunix_sock_group = "root"\n');
    await writeFile(
      join(folder, "etc/qemu.conf"),
      // As another user QEMU would be probed anew before each machine.
      'user = "root"\ngroup = "root"\nsecurity_driver = "none"\nnamespaces = []\ncgroup_controllers = []\nstdio_handler = "file"\n',
    );
    for (const program of ["qemu-system-x86_64", "swtpm", "swtpm_setup", "swtpm_ioctl"]) {
      const path = find(program);
      if (path !== undefined) await symlink(path, join(folder, "bin", program));
    }
    const script = fileURLToPath(new URL("../testdata/libvirtd.sh", import.meta.url));
    const own = ["--mount", "--propagation", "private", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];
    const daemon = spawn("unshare", [...own, "sh", script, folder], { stdio: "ignore" });
    const libvirt = new Libvirt(folder, daemon);
    const deadline = Date.now() + 100_000;
    while (!existsSync(join(folder, "run/libvirt-sock"))) {
      if (daemon.exitCode !== null || Date.now() > deadline) throw new Error("libvirtd does not start");
      await delay(50);
    }
    return libvirt;
  }

  /** Sends commands, one per line, to one client; answers with all it prints. */
  run(commands: readonly string[]): string {
    const uri = `qemu+unix:///system?socket=${this.folder}/run/libvirt-sock`;
    return execFileSync("sh", ["-c", `virsh --quiet --connect '${uri}' 2>&1`], {
      cwd: join(this.folder, "xml"),
      input: commands.join("\n"),
      encoding: "utf8",
      timeout: 150_000,
      maxBuffer: 256 * 1024 * 1024,
    });
  }

  /** Defines each machine with validation, asks for its command line, and forgets it again. */
  async judge(machines: readonly Machine[]): Promise<Answer[]> {
    const marker = "@machine";
    const commands: string[] = [];
    for (const [index, { domain }] of machines.entries()) {
      const file = `${index}.xml`;
      await writeFile(join(this.folder, "xml", file), writeDomain(domain));
      commands.push(
        `echo ${marker} ${index}`,
        `define ${file} --validate`,
        `domxml-to-native qemu-argv --xml ${file}`,
        `undefine ${domain.name} --nvram`,
      );
    }
    const answers = this.run(commands)
      .split(new RegExp(String.raw`^${marker} \d+`, "m"))
      .slice(1);
    if (answers.length !== machines.length)
      throw new Error("virsh answered for other machines than it was asked about");
    return machines.map(({ name }, index) => ({
      name,
      errors: (answers[index] ?? "")
        .split("\n")
        .filter((line) => line.startsWith("error:") && !/^error: [Ff]ailed to /.test(line)),
    }));
  }

  async stop(): Promise<void> {
    this.#daemon.kill("SIGTERM");
    await new Promise((resolve) => this.#daemon.once("exit", resolve));
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The ways in which a guest of each architecture can run on this machine. */
function waysToRun(): { platform: string; how: Acceleration }[] {
  const host = parseArchitecture(process.arch);
  return architectures.flatMap((architecture): { platform: string; how: Acceleration }[] => {
    const platform = `kvm/${architecture}`;
    if (architecture !== host) return [{ platform, how: "foreign" }];
    return [
      { platform, how: "accelerated" },
      { platform, how: "emulated" },
    ];
  });
}

const isHere = (platform: string, how: Acceleration): boolean =>
  waysToRun().some((way) => way.platform === platform && way.how === how);

function fieldMachines(): Machine[] {
  return waysToRun().flatMap(({ platform, how }) =>
    machineSamples.flatMap((sample) => {
      const outcome = convertFields(fieldsOf(sample, platform), platform, how);
      return outcome.kind === "machine"
        ? [{ name: `${sample.path} on ${platform} (${how})`, domain: outcome.domain }]
        : [];
    }),
  );
}

describe.skipIf(missing.length > 0)(`a real libvirt${skipped}`, { timeout: 180_000 }, () => {
  let libvirt: Libvirt | undefined;
  let isOlder = false;

  beforeAll(async () => {
    libvirt = await Libvirt.start();
    isOlder = /QEMU 9\.0\.0$/m.test(libvirt.run(["version"]));
  }, 120_000);
  afterAll(async () => libvirt?.stop());

  /** Every machine is accepted, unless this libvirt is too old for it (which our own validation must know) or the host lacks something. */
  async function expectAccepted(machines: readonly Machine[], atLeast: number): Promise<void> {
    const isTooNew = (domain: Domain): boolean => isOlder && validateDomain(domain, { libvirt: "9.0.0" }).length > 0;
    const answers = (await libvirt?.judge(machines)) ?? [];
    const faults: Answer[] = [];
    const set = { accepted: 0, tooNew: 0, limited: 0 };
    for (const [index, { domain }] of machines.entries()) {
      const answer = answers[index] ?? { name: "", errors: ["error: no answer"] };
      const foreign = answer.errors.filter((error) => !limits.some(({ words }) => words.test(error)));
      if (isTooNew(domain)) {
        set.tooNew += 1;
        if (answer.errors.length === 0)
          faults.push({ ...answer, errors: ["accepted, though our table for 9.0 says no"] });
      } else if (foreign.length > 0) faults.push({ ...answer, errors: foreign });
      else if (answer.errors.length > 0) set.limited += 1;
      else set.accepted += 1;
    }
    expect(faults).toEqual([]);
    expect({ ...set, enough: set.accepted >= atLeast }).toMatchObject({ enough: true });
  }

  it("takes the machines of our samples", async () => {
    const machines = samples
      .filter(({ platform, how }) => isHere(platform, how))
      .map((sample) => ({
        name: `${sample.file} on ${sample.platform} (${sample.how})`,
        domain: convertSample(sample, (file) => readFileSync(file, "utf8")).domain,
      }));
    await expectAccepted(machines, 6);
  });

  it.skipIf(convertExamples("kvm/amd64", "accelerated").length === 0)(
    "takes the machines of KubeVirt's examples",
    async () => {
      const machines = waysToRun().flatMap(({ platform, how }) => convertExamples(platform, how));
      await expectAccepted(machines, 15);
    },
  );

  it("takes a machine with every field that it can have, on every architecture", async () => {
    await expectAccepted(fieldMachines(), 250);
  });
});
