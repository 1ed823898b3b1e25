/**
 * libvirt's own test domains, where they are at hand: each becomes arguments or is refused by path, and whatever a domain
 * says has an effect on its machine, is refused, or stands in the table below with the reason.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readDomain, type Domain } from "@polyvirt/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testHost } from "../testing/machine-host.ts";
import { knownArchitectures } from "./architecture.ts";
import { buildArguments } from "./build-arguments.ts";
import { alternatives, changeAt, leavesOf, type Leaf } from "../testing/domain-leaves.ts";

const corpus = new URL("../../../../../shared/libvirt/domains/", import.meta.url);
const golden = new URL("./testdata/corpus-outcomes.txt", import.meta.url);

interface Sample {
  readonly file: string;
  readonly domain: Domain;
}

type Outcome = { readonly text: string } | { readonly refusal: string } | { readonly crash: string };

function outcomeOf(domain: Domain): Outcome {
  try {
    const { emulator, args, afterStart, needs, companions, placement } = buildArguments(domain, testHost);
    const threads = [[...placement.vcpus], [...placement.iothreads], placement.emulator];
    return { text: JSON.stringify([args, emulator, afterStart, needs, companions, threads]) };
  } catch (error) {
    const { code, message, stack } = error as Error & { code?: string };
    return code === "StackDefinitionRefused" ? { refusal: message } : { crash: stack ?? message };
  }
}

function readSamples(): Sample[] {
  const files = existsSync(corpus) ? readdirSync(corpus).filter((file) => file.endsWith(".xml")) : [];
  return files.flatMap((file) => {
    // The one file that is meant not to be XML.
    if (file === "broken-xml-invalid.xml") return [];
    const domain = readDomain(readFileSync(new URL(file, corpus), "utf8"));
    const served =
      ["kvm", "qemu"].includes(domain.type ?? "") && knownArchitectures.includes(domain.os?.type?.arch ?? "x86_64");
    return served ? [{ file, domain }] : [];
  });
}

/** A refusal without the particulars of one file: the first path that it names, or the fields that nobody read. */
function reasonOf(refusal: string): string {
  const unread = /does not support (.*?)(?: and \d+ more)?; leave/.exec(refusal)?.[1]?.split(", ")[0];
  const path = unread ?? /(?:express|read) ([\w.$[\]]+)/.exec(refusal)?.[1] ?? refusal;
  return path.replaceAll(/\[\d+\]/g, "[]");
}

/** What has no effect on QEMU's arguments, and why that is as it should be. A path stands for all below it. */
const withoutEffect: Readonly<Record<string, string>> = {
  metadata: "for people and tools that read definitions",
  $attributes: "declares namespaces",
  qemuCommandline: "only its arguments are passed on; the rest spells the namespace",
  "seclabels[]": "the launcher's pod is the boundary",
  "cpu.check": "libvirt's own comparison with the host",
  "cpu.match": "as cpu.check",
  "cpu.model.fallback": "as cpu.check",
  "features.pae": "every machine has it",
  "features.apic": "every machine has it",
  "features.pvspinlock.state": "a short cut through KVM; the domains that name it are emulated",
  "cpu.numa.cells[].discard": "memory goes back to the host with the process",
  "memoryBacking.discard": "as cpu.numa.cells[].discard",
  "devices.memorydevs[].discard": "as cpu.numa.cells[].discard",
  id: "the number that the machine had the last time",
  "devices.disks[].backingStore{}": "ends a chain of images, which ends here anyway",
  "devices{}": "a machine without devices",
  "devices.channels[].target.state": "what the guest did with it the last time",
  "devices.consoles[]": "the first console is the first serial port, told twice",
  "devices.controllers[].alias.name": "the PCI root has a name of the machine's own",
  "devices.inputs[].type": "PC machines have a PS/2 keyboard and mouse, asked for or not",
  "devices.interfaces[].target.managed": "the node agent has made the device",
  "devices.vsock.model": "devices on a channel of s390x have one generation",
  onCrash: "restart and destroy are the same for a guest that cannot report a panic; the others differ",
  "os.firmware": "the launcher has chosen the files already",
  "os.firmwareInfo": "as os.firmware",
  "os.nvram.template": "the launcher has copied it",
  "os.nvram.templateFormat": "as os.nvram.template",
  "os.loader.stateless": "without os.nvram the firmware keeps nothing",
};

describe.skipIf(!existsSync(corpus))("libvirt's test domains", { timeout: 120_000 }, () => {
  const samples = readSamples();
  const zone = process.env["TZ"];
  // Away from UTC, so that a clock in local time is another one.
  beforeAll(() => void (process.env["TZ"] = "Asia/Tokyo"));
  afterAll(() => {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });

  it("become arguments or are refused by path", async () => {
    const counts = new Map<string, number>();
    const wrong: string[] = [];
    for (const { file, domain } of samples) {
      const outcome = outcomeOf(domain);
      const line =
        "refusal" in outcome ? `refused: ${reasonOf(outcome.refusal)}` : "text" in outcome ? "built" : "crashed";
      counts.set(line, (counts.get(line) ?? 0) + 1);
      if ("crash" in outcome) wrong.push(`${file}: ${outcome.crash}`);
      if ("text" in outcome && /undefined|NaN|\[object/.test(outcome.text)) wrong.push(`${file}: ${outcome.text}`);
      if ("refusal" in outcome && !/^(express|read) .+: .{10}/.test(outcome.refusal))
        wrong.push(`${file}: ${outcome.refusal}`);
    }
    expect(wrong).toEqual([]);
    const lines = [...counts]
      .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .map(([line, n]) => `${n} ${line}\n`);
    await expect(lines.join("")).toMatchFileSnapshot(golden.pathname);
  });

  it("say nothing that is ignored in silence, and nothing that could become an option of its own", () => {
    const { ignored, injected } = probe(samples);
    expect(injected).toEqual([]);
    const rows = Object.keys(withoutEffect);
    const explained = (path: string): string | undefined =>
      rows.find((row) => path === row || path === `${row}{}` || path.startsWith(`${row}.`));
    expect(ignored.filter((path) => explained(path) === undefined)).toEqual([]);
    // A row that explains nothing any more has to go.
    expect(rows.filter((row) => !ignored.some((path) => explained(path) === row))).toEqual([]);
  });
});

/** More files than these say nothing new about a path. */
const triesPerPath = 40;

/**
 * Changes what the definitions say, one value at a time, into what others of them say in the same place. A path under which
 * no accepted change ever showed in the outcome is ignored.
 */
function probe(samples: readonly Sample[]): { ignored: string[]; injected: string[] } {
  const seen = new Map<string, Set<Leaf["value"]>>();
  const built = samples.flatMap(({ domain }) => {
    const leaves = leavesOf(domain);
    for (const { path, value } of leaves) seen.set(path, (seen.get(path) ?? new Set()).add(value));
    const outcome = outcomeOf(domain);
    return "text" in outcome ? [{ domain, leaves, text: outcome.text }] : [];
  });
  const effective = new Set<string>();
  const tries = new Map<string, number>();
  const ignored = new Set<string>();
  const injected = new Set<string>();
  for (const { domain, leaves, text } of built) {
    for (const leaf of leaves) {
      const count = tries.get(leaf.path) ?? 0;
      if (effective.has(leaf.path) || count >= triesPerPath) continue;
      tries.set(leaf.path, count + 1);
      for (const value of alternatives(leaf, [...(seen.get(leaf.path) ?? [])])) {
        const outcome = outcomeOf(changeAt(domain, leaf.steps, value));
        if ("crash" in outcome) injected.add(`${leaf.path}: ${outcome.crash}`);
        if (!("text" in outcome)) continue;
        // These are QEMU's arguments word for word.
        const given = leaf.path === "qemuCommandline.args[].value";
        if (!given && escapes(outcome.text)) injected.add(leaf.path);
        if (outcome.text !== text) effective.add(leaf.path);
        else ignored.add(leaf.path);
      }
    }
  }
  return { ignored: [...ignored].filter((path) => !effective.has(path)).toSorted(), injected: [...injected] };
}

/** Options that take their value as it is, commas and all. */
const plain = new Set(["-kernel", "-initrd", "-append", "-dtb", "-bios"]);

/** Whether the comma of a planted value stands alone in an option that is not JSON. */
function escapes(text: string): boolean {
  const [args] = JSON.parse(text) as [string[]];
  return args.some(
    (arg, index) => !arg.startsWith("{") && !plain.has(args[index - 1] ?? "") && /(?<!,)(?:,,)*,planted=on/.test(arg),
  );
}
