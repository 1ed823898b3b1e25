/**
 * Our arguments before the real QEMU: it comes up, with stopped CPUs, and answers. For the converter's samples and, where
 * they are at hand, a part of libvirt's test domains.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDomain, type Domain } from "@polyvirt/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emulated, machinesOf, QemuTrial } from "../testing/qemu-trial.ts";
import { guestArchitecture, knownArchitectures } from "./architecture.ts";
import { buildArguments, type QemuCommand } from "./build-arguments.ts";

const emulators = knownArchitectures.map((name) => guestArchitecture(name)?.emulator ?? "");
const missing = [...emulators, "/usr/bin/qemu-img"].filter((program) => !existsSync(program));
const skipped = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")} not installed)`;
const converted = new URL("../../../hypervisor/src/testdata/", import.meta.url);
const corpus = new URL("../../../../../shared/libvirt/domains/", import.meta.url);

/** Each start takes a fraction of a second; so many fit into a minute on a busy machine. */
const corpusPart = 80;

/** What a machine for tests does not have, in QEMU's words. Anything else that QEMU says is a mistake of ours. */
const lacking: readonly { readonly words: RegExp; readonly why: string }[] = [
  { words: /vfio|\/dev\/bus\/usb|ap-bus|evdev|vhost-vsock|hostdevice|a SCSI device/, why: "a device of the node" },
  { words: /host NUMA node|host-nodes/, why: "several NUMA nodes" },
  { words: /chartpm|Failed to connect|address resolution|Could not resolve|rbd|iscsi/, why: "somebody who listens" },
  { words: /Could not open|can't open|can't load|Couldn't open|failed to read/, why: "a file of the definition" },
  { words: /system firmware|pflash|linux kernel/, why: "firmware or a kernel; the files are empty" },
  { words: /requires KVM|kernel irqchip|X2APIC|not available in the configuration/, why: "KVM" },
  { words: /phys-bits too low|Cannot allocate memory|exceeds max CPUs/, why: "so much memory or so many CPUs" },
  {
    words: /Property '.*' not found|is unexpected|not a valid device model|introduced with later/,
    why: "a newer QEMU",
  },
  { words: /cannot use stdio|udmabuf/, why: "a terminal or a graphics card" },
  {
    words: /IOMMU_PLATFORM|only to root bus|single function device|no slot\/function available|usb port .* not found/,
    why: "sense, on purpose",
  },
];

describe.skipIf(missing.length > 0)(`QEMU${skipped}`, { timeout: 120_000 }, () => {
  let folder: string;
  let trial: QemuTrial;
  const machines = missing.length > 0 ? new Set<string>() : new Set(emulators.flatMap((name) => [...machinesOf(name)]));
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "qemu-trial-"));
    trial = new QemuTrial(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** What QEMU says against each definition, without what the machine of the test lacks. Two run at a time. */
  async function objections(files: readonly URL[]): Promise<{ tried: number; wrong: string[] }> {
    const commands = files.flatMap((file) => {
      const command = commandFor(emulated(readDomain(readFileSync(file, "utf8")), machines), folder);
      return command === undefined ? [] : [{ file, command }];
    });
    const queue = [...commands];
    const wrong: string[] = [];
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const words = await trial.start(next.command.emulator, next.command.args);
        if (words !== "" && !lacking.some((lack) => lack.words.test(words)))
          wrong.push(`${next.file.pathname}: ${words}`);
      }
    };
    await Promise.all([work(), work()]);
    return { tried: commands.length, wrong };
  }

  it("takes every machine that the converter makes", async () => {
    const files = readdirSync(converted).filter((file) => file.endsWith(".xml"));
    const { tried, wrong } = await objections(files.map((file) => new URL(file, converted)));
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(15);
  });

  it.skipIf(!existsSync(corpus))("takes libvirt's test domains that become arguments", async () => {
    const files = readdirSync(corpus).filter((file) => file.endsWith(".xml") && !skippedFiles.test(file));
    const stride = Math.ceil(files.length / (corpusPart * 2));
    const part = files.filter((_, index) => index % stride === 0).map((file) => new URL(file, corpus));
    const { tried, wrong } = await objections(part);
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(corpusPart / 2);
  });
});

/** One is meant not to be XML; the others pass QEMU arguments that it does not know, word for word. */
const skippedFiles = /^broken-xml|^qemu-ns/;

function commandFor(domain: Domain, stateDirectory: string): QemuCommand | undefined {
  try {
    return buildArguments(domain, { now: Date.now(), stateDirectory, persistentDirectory: stateDirectory });
  } catch {
    // Refused; another test says for what.
    return undefined;
  }
}
