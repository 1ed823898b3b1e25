import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import type { CapabilityProvider, Stack } from "@polyvirt/stack";
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
];

interface Difference {
  readonly question: "machines" | "models" | "features";
  readonly onlyIn: "qemu" | "libvirt";
  readonly architecture?: string;
  readonly names: RegExp;
  readonly reason: string;
}

const emulators = { amd64: "x86_64", arm64: "aarch64", s390x: "s390x" } as const;
const installed = (path: string): boolean => existsSync(path);
const libvirt = installed("/usr/sbin/libvirtd") || installed("/usr/sbin/virtqemud");

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

  const present = Object.entries(emulators).filter(([, name]) => installed(`/usr/bin/qemu-system-${name}`));
  it.each(present)("is the same for %s guests, but for what is explained", async (architecture) => {
    const target = { architecture, virtType: "qemu" };
    const [qemu, other] = [stacks.qemu.capabilities(target), stacks.libvirt.capabilities(target)];
    const unexplained = [
      ...compare("machines", await machines(qemu), await machines(other), architecture),
      ...compare("models", await models(qemu), await models(other), architecture),
      ...compare("features", await features(qemu), await features(other), architecture),
    ];
    expect(unexplained).toEqual([]);
    expect((await machines(qemu)).size).toBeGreaterThan(5);
    expect((await models(qemu)).size).toBeGreaterThan(5);

    expect(await other.getHypervFeatures()).toEqual(await qemu.getHypervFeatures());
    expect(await other.getNodeSevFeatures()).toEqual(await qemu.getNodeSevFeatures());
    expect(await other.getNodeTscInfo()).toEqual(await qemu.getNodeTscInfo());
    expect(await other.getHostCpuModelInfo()).toEqual(await qemu.getHostCpuModelInfo());
    expect(await stacks.libvirt.vmmVersion()).toBe(await stacks.qemu.vmmVersion());
  });
});

type Answer = ReadonlyMap<string, string>;

const machines = async (provider: CapabilityProvider): Promise<Answer> =>
  new Map(
    (await provider.getSupportedMachineTypes()).map(({ name, canonical, maxCpus }) => [
      name,
      `${canonical} ${maxCpus}`,
    ]),
  );
const models = async (provider: CapabilityProvider): Promise<Answer> =>
  new Map((await provider.getSupportedCpuModels()).map(({ name, usable }) => [name, String(usable)]));
const features = async (provider: CapabilityProvider): Promise<Answer> =>
  new Map((await provider.getSupportedCpuFeatures()).map((name) => [name, ""]));

function compare(question: Difference["question"], qemu: Answer, other: Answer, architecture: string): string[] {
  const explained = (onlyIn: Difference["onlyIn"], name: string): boolean =>
    differences.some(
      (entry) =>
        entry.question === question &&
        entry.onlyIn === onlyIn &&
        (entry.architecture ?? architecture) === architecture &&
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
