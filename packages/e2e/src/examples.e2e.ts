import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { TestCluster, eventually, repositoryRoot } from "./cluster.ts";
import { serialLog } from "./console.ts";
import type { Vmi } from "./guest.ts";
import type { RunResult } from "./run.ts";

interface Example {
  readonly file: string;
  readonly words: RegExp;
  /** A claim that has to be there, with a demo guest on its disk. */
  readonly claim?: string;
}

/** Examples that boot, and what is on their serial consoles. */
const speaking: readonly Example[] = [
  { file: "hello.yaml", words: /Polyvirt guest is ready/ },
  { file: "hello-arm64.yaml", words: /on aarch64 \(arm64\)/ },
  { file: "hello-s390x.yaml", words: /on s390x \(s390x\)/ },
  { file: "kept-state.yaml", words: /UEFI was told a colour/ },
  { file: "uefi-tpm.yaml", words: /TPM: \/dev\/tpm0/ },
  { file: "volumes.yaml", words: /colour is green[\s\S]*password is secret[\s\S]*app=volumes/ },
  { file: "vmi-alpine-efi.yaml", words: /Polyvirt guest is ready/ },
  { file: "vmi-arm.yaml", words: /printed from cloud-init userdata/ },
  { file: "vmi-ephemeral.yaml", words: /Polyvirt guest is ready/ },
  { file: "vmi-fedora.yaml", words: /Polyvirt guest is ready/ },
  { file: "vmi-kernel-boot.yaml", words: /Polyvirt guest is ready/ },
  { file: "vmi-masquerade.yaml", words: /Polyvirt guest is ready/ },
  { file: "vmi-migratable.yaml", words: /Polyvirt guest is ready/ },
  { file: "vmi-nocloud.yaml", words: /printed from cloud-init userdata/ },
  { file: "vmi-pvc.yaml", words: /Polyvirt guest is ready/, claim: "disk-alpine" },
  { file: "vmi-sata.yaml", words: /Polyvirt guest is ready/ },
  // The demo guest's boot loader is not signed, and the firmware says so.
  { file: "vmi-secureboot.yaml", words: /Access Denied/ },
];

/** Examples that the API server refuses, with its words. */
const refused: readonly Example[] = [
  { file: "vmi-host-disk.yaml", words: /HostDisk feature gate is not enabled/ },
  { file: "vmi-multus-multiple-net.yaml", words: /a multus network is not served by this version/ },
  { file: "vmi-usb.yaml", words: /Host Devices feature gate is not enabled/ },
];

/** Examples that cannot run here, and what an event of the VMI or of its pod says about it. */
const waiting: readonly Example[] = [
  { file: "vmi-gpu.yaml", words: /Insufficient nvidia\.com\/GP102GL_Tesla_P40/ },
  { file: "vmi-windows.yaml", words: /software emulation has no enlightenments/, claim: "disk-windows" },
];

const kubevirtFolder = join(repositoryRoot, "../shared/kubevirt/examples");
const ownFolder = join(repositoryRoot, "examples");
const filesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".yaml")) : [];

const pathOf = (file: string): string => join(file.startsWith("vmi-") ? kubevirtFolder : ownFolder, file);
const present = (examples: readonly Example[]): Example[] => examples.filter(({ file }) => existsSync(pathOf(file)));

/**
 * Our own examples, and KubeVirt's where they are at hand, each with its images replaced by demo guests. Every file must be
 * in a table above: an example is a promise.
 */
describe("examples", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    for (const architecture of ["amd64", "arm64", "s390x"]) {
      await must(cluster.polyvirt("image", "build-demo", "--arch", architecture));
    }
    await must(cluster.polyvirt("image", "add", "example.test/sh:1", "--exec", "/bin/sh -ec"));
    const gates = { featureGates: ["MultiArchitectureSoftwareEmulation"] };
    const patch = JSON.stringify({ spec: { configuration: { developerConfiguration: gates } } });
    await must(cluster.kubectl("patch", "kubevirt", "kubevirt", "-n", "kubevirt", "--type=merge", "-p", patch));
    // virt-api hears of the gate a moment later.
    await eventually(
      () => cluster.kubectl("apply", "--dry-run=server", "-f", pathOf("hello-arm64.yaml")),
      ({ code }) => code === 0,
    );
  }, 600_000);
  afterAll(() => cluster.destroy());

  it("every example has a promise", () => {
    const promised = [...speaking, ...refused, ...waiting].map(({ file }) => file);
    const files = [
      ...filesIn(ownFolder),
      ...filesIn(kubevirtFolder).filter((name) => /^vmi-(?!replicaset)/.test(name)),
    ];
    expect(files.filter((file) => !promised.includes(file))).toEqual([]);
  });

  it.each(present(speaking))(
    "$file speaks",
    async ({ file, words, claim }) => {
      if (claim !== undefined) await fillClaim(cluster, claim);
      const { name, manifest } = readExample(pathOf(file));
      await must(cluster.apply(manifest));
      const log = await eventually(
        () => serialLog(cluster, name),
        (text) => words.test(text),
        300_000,
      );
      expect(log).toMatch(words);
      const { status } = await cluster.json<Vmi>("get", "vmi", name);
      expect(status?.phase).toBe("Running");
      await remove(cluster, name);
    },
    420_000,
  );

  it.each(present(refused))("$file is refused", async ({ file, words }) => {
    const applied = await cluster.apply(readExample(pathOf(file)).manifest);
    expect(applied.stderr).toMatch(words);
  });

  it.each(present(waiting))(
    "$file cannot run here, and says why",
    async ({ file, words, claim }) => {
      if (claim !== undefined) await fillClaim(cluster, claim);
      const { name, manifest } = readExample(pathOf(file));
      await must(cluster.apply(manifest));
      const columns = "jsonpath={range .items[*]}{.involvedObject.name}: {.message}{'\\n'}{end}";
      const events = await eventually(
        async () => (await cluster.kubectl("get", "events", "-o", columns)).stdout.split("\n"),
        (lines) => lines.some((line) => line.includes(name) && words.test(line)),
        120_000,
      );
      expect(events.join("\n")).toMatch(words);
      await remove(cluster, name);
    },
    300_000,
  );
});

/** A step that the test itself is not about. */
async function must(step: Promise<RunResult>): Promise<void> {
  const { code, stderr } = await step;
  if (code !== 0) throw new Error(stderr);
}

async function remove(cluster: TestCluster, name: string): Promise<void> {
  await must(cluster.kubectl("delete", "vmi", name, "--grace-period=0", "--timeout=60s"));
}

interface KubeObject {
  kind: string;
  metadata: { name: string };
  spec?: Record<string, unknown>;
}

/** A file of examples with every image replaced by a demo guest, and the name of the VMI in it. */
function readExample(file: string): { name: string; manifest: string } {
  const text = readFileSync(file, "utf8")
    .replaceAll(/registry:5000\/kubevirt\/[\w-]+:devel/g, "polyvirt.local/demo-guest:1")
    .replace("/boot/initramfs-virt", "/boot/initramfs")
    .replace("/boot/vmlinuz-virt", "/boot/vmlinuz")
    // A busy machine may starve the emulated timer at the moment when the kernel looks whether it works.
    .replace(/kernelArgs: console=ttyS0$/m, "kernelArgs: console=ttyS0 no_timer_check");
  // Complete objects, whose shape the API server checks.
  const objects = parseAllDocuments(text).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);
  const vmi = objects.find(({ kind }) => kind === "VirtualMachineInstance");
  if (vmi === undefined) throw new Error(`${file} has no VirtualMachineInstance`);
  // Made for clusters of arm64 machines, so it does not say for which guests.
  if (vmi.metadata.name === "vmi-arm") vmi.spec = { ...vmi.spec, architecture: "arm64" };
  return { name: vmi.metadata.name, manifest: objects.map((object) => stringify(object)).join("---\n") };
}

/** A claim whose disk holds a demo guest, put there by a pod. */
async function fillClaim(cluster: TestCluster, name: string): Promise<void> {
  const script = "qemu-img convert -f qcow2 -O raw /image/disk/demo.qcow2 /claim/disk.img && chmod 666 /claim/disk.img";
  const manifest = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name} }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: fill-${name} }
spec:
  restartPolicy: Never
  containers:
    - name: fill
      image: example.test/sh:1
      args: ["${script}"]
      volumeMounts: [{ name: claim, mountPath: /claim }, { name: image, mountPath: /image }]
  volumes:
    - { name: claim, persistentVolumeClaim: { claimName: ${name} } }
    - { name: image, image: { reference: "polyvirt.local/demo-guest:1" } }
`;
  await must(cluster.apply(manifest));
  await eventually(
    () => cluster.json<Vmi>("get", "pod", `fill-${name}`),
    (pod) => pod.status?.phase === "Succeeded",
    120_000,
  );
  await cluster.kubectl("delete", "pod", `fill-${name}`);
}
