import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { serialLog } from "./console.ts";
import { chooseStack, stacks } from "./stacks.ts";

const script = `
#!/bin/sh
for name in settings words account about data; do
  mkdir -p /shared/$name && mount -t virtiofs $name /shared/$name
done
echo "settings: $(cat /shared/settings/colour)"
echo "words: $(cat /shared/words/password)"
echo "account: $(cat /shared/account/namespace)"
echo "about: $(cat /shared/about/labels)"
echo written by the guest > /shared/data/from-guest && echo "data: $(cat /shared/data/from-guest)"
echo no > /shared/settings/colour || echo "settings cannot be changed"
`.trim();

const names = ["settings", "words", "account", "about", "data"];

const objects = `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { colour: green }
---
apiVersion: v1
kind: Secret
metadata: { name: words }
stringData: { password: open sesame }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 10Mi } } }
`;

const manifest = (name: string): string => `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: ${name}, labels: { app: sharing } }
spec:
  domain:
    memory: { guest: 128Mi }
    firmware:
      kernelBoot:
        kernelArgs: console=ttyS0 quiet no_timer_check
        container: { image: "polyvirt.local/demo-kernel:1", kernelPath: /boot/vmlinuz, initrdPath: /boot/initramfs }
    devices:
      autoattachPodInterface: false
      disks: [{ name: first-boot, disk: { bus: virtio } }]
      filesystems: ${JSON.stringify(names.map((folder) => ({ name: folder, virtiofs: {} })))}
  terminationGracePeriodSeconds: 0
  volumes:
    - { name: first-boot, cloudInitNoCloud: { userData: ${JSON.stringify(script)} } }
    - { name: settings, configMap: { name: settings } }
    - { name: words, secret: { secretName: words } }
    - { name: account, serviceAccount: { serviceAccountName: default } }
    - { name: about, downwardAPI: { fields: [{ path: labels, fieldRef: { fieldPath: metadata.labels } }] } }
    - { name: data, persistentVolumeClaim: { claimName: data } }
`;

describe("volumes as folders of the guest", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo");
    await cluster.apply(objects);
  });
  afterAll(() => cluster.destroy());

  it("are refused without their gates", async () => {
    const { stderr } = await cluster.apply(manifest("refused"));
    expect(stderr).toContain("virtiofs feature gate is not enabled for config volumes");
    expect(stderr).toContain("virtiofs feature gate is not enabled for PVC");
  });

  it.each(stacks)("are mounted by virtiofs on stack-%s", async (stack) => {
    await chooseStack(cluster, stack);
    const gates = [
      "PluginVirtualizationStacks",
      "MultiArchitectureSoftwareEmulation",
      "EnableVirtioFsConfigVolumes",
      "EnableVirtioFsStorageVolumes",
    ];
    const patch = JSON.stringify({ spec: { configuration: { developerConfiguration: { featureGates: gates } } } });
    await cluster.kubectl("patch", "kubevirt", "kubevirt", "-n", "kubevirt", "--type=merge", "-p", patch);
    const name = `sharing-${stack}`;
    // virt-api hears of the gates a moment later.
    await eventually(
      () => cluster.apply(manifest(name)),
      ({ code }) => code === 0,
    );
    const log = await eventually(
      () => serialLog(cluster, name),
      (text) => text.includes("settings cannot be changed"),
      120_000,
    );
    for (const words of ["settings: green", "words: open sesame", "account: default", 'app="sharing"']) {
      expect(log).toContain(words);
    }
    expect(log).toContain("data: written by the guest");
    const pods = await cluster.kubectl("get", "pods", "-l", `vmi.kubevirt.io/id=${name}`, "-o", "name");
    const read = ["--", "cat", "/var/run/kubevirt-private/vmi-disks/data/from-guest"];
    const inClaim = await cluster.kubectl("exec", pods.stdout.trim(), ...read);
    expect(inClaim.stdout).toBe("written by the guest\n");
    expect(await cluster.kubectl("delete", "vmi", name, "--timeout=60s")).toMatchObject({ code: 0 });
  });
});
