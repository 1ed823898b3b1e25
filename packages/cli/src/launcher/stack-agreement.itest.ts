import { accessSync, constants, existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import type { CapabilityProvider, CapabilityTarget, Stack } from "@polyvirt/stack";
import { createLibvirtStack } from "@polyvirt/stack-libvirt";
import { createQemuStack } from "@polyvirt/stack-qemu";

/** Where the two stacks may answer differently about the same node, and why. Everything else has to be the same. */
const differences: readonly Difference[] = [
  {
    question: "models",
    onlyIn: "qemu",
    names: /-v\d+$/,
    reason: "QEMU also names each revision of a model; libvirt's own list has the models only",
  },
  {
    question: "models",
    onlyIn: "qemu",
    names: /^(Denverton|KnightsMill)$/,
    reason: "libvirt's list of models has them only since versions after 9.0",
  },
  {
    question: "features",
    onlyIn: "qemu",
    architecture: "s390x",
    names: /./,
    reason: "libvirt lists features only as part of a host model, and an emulated s390x has none",
  },
  {
    question: "features",
    onlyIn: "libvirt",
    virtType: "kvm",
    names: /^invtsc$/,
    reason: "QEMU leaves it out of a CPU that may be moved to another machine, unless it is told not to care",
  },
  {
    question: "hyperv",
    onlyIn: "libvirt",
    virtType: "kvm",
    names: /^(spinlocks|vendor_id)$/,
    reason: "they are numbers and texts that QEMU takes on every host, and not switches that the host offers",
  },
  {
    question: "host",
    onlyIn: "libvirt",
    virtType: "kvm",
    names: /./,
    reason: "QEMU can run the host's CPU but does not say which named model it is; libvirt compares the two itself",
  },
  {
    question: "tsc",
    onlyIn: "libvirt",
    virtType: "kvm",
    names: /./,
    reason: "libvirt asks the hypervisor's device; QEMU does not tell what it hears from it",
  },
];

type Question = "machines" | "models" | "features" | "hyperv" | "host" | "tsc" | "sev";

interface Difference {
  readonly question: Question;
  readonly onlyIn: "qemu" | "libvirt";
  readonly architecture?: string;
  readonly virtType?: string;
  readonly names: RegExp;
  readonly reason: string;
}

const emulators = { amd64: "x86_64", arm64: "aarch64", s390x: "s390x" } as const;
const installed = (path: string): boolean => existsSync(path);
const libvirt = installed("/usr/sbin/libvirtd") || installed("/usr/sbin/virtqemud");

/** Emulated guests of every architecture, and accelerated ones where this machine's device can be opened. */
const targets: readonly CapabilityTarget[] = [
  ...Object.entries(emulators)
    .filter(([, name]) => installed(`/usr/bin/qemu-system-${name}`))
    .map(([architecture]) => ({ architecture, virtType: "qemu" })),
  ...(process.arch === "x64" && opens("/dev/kvm") ? [{ architecture: "amd64", virtType: "kvm" }] : []),
];

function opens(device: string): boolean {
  try {
    accessSync(device, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!libvirt)("what two stacks say about one node (package libvirt-daemon)", async () => {
  const directory = await mkdtemp(join(tmpdir(), "agree-"));
  const dependencies = { clock: systemClock, logger: silentLogger, scratchDirectory: directory };
  const stacks: Record<Difference["onlyIn"], Stack> = {
    qemu: createQemuStack(dependencies),
    libvirt: createLibvirtStack(dependencies),
  };
  afterAll(async () => {
    for (const stack of Object.values(stacks)) await stack.close();
    await rm(directory, { recursive: true, force: true });
  });

  it.each(targets)(
    "is the same for $architecture guests under $virtType, but for what is explained",
    async (target) => {
      const [qemu, other] = [stacks.qemu.capabilities(target), stacks.libvirt.capabilities(target)];
      const unexplained: string[] = [];
      // The table has one row for each of the questions.
      for (const question of Object.keys(questions) as Question[]) {
        const [left, right] = [await questions[question](qemu), await questions[question](other)];
        unexplained.push(...compare(question, left, right, target));
      }
      expect(unexplained).toEqual([]);
      expect((await questions.machines(qemu)).size).toBeGreaterThan(5);
      expect((await questions.models(qemu)).size).toBeGreaterThan(5);
      expect(await stacks.libvirt.vmmVersion()).toBe(await stacks.qemu.vmmVersion());
    },
  );
});

type Answer = ReadonlyMap<string, string>;

const names = (list: readonly string[]): Answer => new Map(list.map((name) => [name, ""]));

/** All seven questions of the node labeller, with answers that can be compared name by name. */
const questions: Readonly<Record<Question, (provider: CapabilityProvider) => Promise<Answer>>> = {
  machines: async (provider) =>
    new Map(
      (await provider.getSupportedMachineTypes()).map(({ name, canonical, maxCpus, deprecated = false }) => [
        name,
        `${canonical} ${maxCpus}${deprecated ? " deprecated" : ""}`,
      ]),
    ),
  models: async (provider) =>
    new Map((await provider.getSupportedCpuModels()).map(({ name, usable }) => [name, String(usable)])),
  features: async (provider) => names(await provider.getSupportedCpuFeatures()),
  hyperv: async (provider) => names(await provider.getHypervFeatures()),
  host: async (provider) => {
    const model = await provider.getHostCpuModelInfo();
    return names(model === undefined ? [] : [model.name, ...model.requiredFeatures]);
  },
  tsc: async (provider) => {
    const tsc = await provider.getNodeTscInfo();
    return new Map(tsc === undefined ? [] : [["tsc", JSON.stringify(tsc)]]);
  },
  sev: async (provider) =>
    new Map(Object.entries(await provider.getNodeSevFeatures()).map(([name, value]) => [name, String(value)])),
};

function compare(question: Question, qemu: Answer, other: Answer, target: CapabilityTarget): string[] {
  const explained = (onlyIn: Difference["onlyIn"], name: string): boolean =>
    differences.some(
      (entry) =>
        entry.question === question &&
        entry.onlyIn === onlyIn &&
        (entry.architecture ?? target.architecture) === target.architecture &&
        (entry.virtType ?? target.virtType) === target.virtType &&
        entry.names.test(name),
    );
  return [...new Set([...qemu.keys(), ...other.keys()])].flatMap((name) => {
    const [left, right] = [qemu.get(name), other.get(name)];
    if (left === right) return [];
    if (right === undefined && explained("qemu", name)) return [];
    if (left === undefined && explained("libvirt", name)) return [];
    return [`${question}: ${name} is ${left ?? "absent"} in qemu and ${right ?? "absent"} in libvirt`];
  });
}
