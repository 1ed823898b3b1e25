import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { serialLog } from "./console.ts";
import type { Vmi } from "./guest.ts";
import { chooseStack, stacks } from "./stacks.ts";

/**
 * Run by the guest at each boot: reads what an earlier boot has left in a UEFI variable and in the TPM's own memory, and
 * leaves something there if there is nothing. Commands to the TPM are written as the bytes of the specification.
 */
const script = `
#!/bin/sh
mount -t efivarfs efivarfs /sys/firmware/efi/efivars
variable=/sys/firmware/efi/efivars/PolyvirtTest-6d9b5b1e-7f3c-4a55-9c2e-0f1d2c3b4a59
if [ -f $variable ]; then
  echo "UEFI remembers $(dd if=$variable bs=1 skip=4 2>/dev/null)"
else
  printf '\\007\\000\\000\\000blue' > /tmp/value && dd if=/tmp/value of=$variable bs=64 2>/dev/null && echo "UEFI was told"
fi
exec 3<>/dev/tpm0
tpm() {
  printf "$1" > /tmp/command
  cat /tmp/command >&3
  dd bs=4096 count=1 <&3 2>/dev/null > /tmp/answer
  [ "$(dd if=/tmp/answer bs=1 skip=6 count=4 2>/dev/null | od -An -tx1 | tr -d ' ')" = 00000000 ]
}
password='\\000\\000\\000\\011\\100\\000\\000\\011\\000\\000\\000\\000\\000'
owner='\\100\\000\\000\\001'
index='\\001\\200\\000\\001'
read="\\200\\002\\000\\000\\000\\043\\000\\000\\001\\116$owner$index$password\\000\\004\\000\\000"
define="\\200\\002\\000\\000\\000\\055\\000\\000\\001\\052$owner$password\\000\\000\\000\\016$index\\000\\013\\002\\006\\000\\006\\000\\000\\000\\004"
write="\\200\\002\\000\\000\\000\\047\\000\\000\\001\\067$owner$index$password\\000\\004gold\\000\\000"
if tpm "$read"; then
  echo "TPM remembers $(dd if=/tmp/answer bs=1 skip=16 count=4 2>/dev/null)"
else
  tpm "$define" && tpm "$write" && echo "TPM was told"
fi
`.trim();

function manifest(name: string): string {
  return `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: ${name}
spec:
  domain:
    memory: { guest: 256Mi }
    firmware: { bootloader: { efi: { secureBoot: false, persistent: true } } }
    devices:
      tpm: { persistent: true }
      autoattachPodInterface: false
      disks: [{ name: root, disk: { bus: virtio } }, { name: first-boot, disk: { bus: virtio } }]
  terminationGracePeriodSeconds: 10
  volumes:
    - { name: root, containerDisk: { image: "polyvirt.local/demo-guest:1" } }
    - name: first-boot
      cloudInitNoCloud:
        userData: ${JSON.stringify(script)}
`;
}

const stateClaim = (name: string): string => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: state-of-${name}, labels: { persistent-state-for: ${name} } }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 10Mi } } }
`;

interface FullVmi extends Vmi {
  status?: Vmi["status"] & {
    volumeStatus?: { name: string; persistentVolumeClaimInfo?: { claimName?: string } }[];
  };
}

interface Claims {
  items: { metadata: { name: string; ownerReferences?: { kind: string; name: string }[] } }[];
}

describe("state that outlives its guest", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo");
  });
  afterAll(() => cluster.destroy());

  const look = (name: string) => cluster.json<FullVmi>("get", "vmi", name);
  const remove = (name: string) => cluster.kubectl("delete", "vmi", name, "--grace-period=0", "--timeout=60s");
  const claimsOf = async (name: string) =>
    (await cluster.json<Claims>("get", "pvc", "-l", `persistent-state-for=${name}`)).items;
  const boot = async (name: string, words: RegExp): Promise<string> => {
    expect(await cluster.apply(manifest(name))).toMatchObject({ code: 0, stderr: "" });
    return eventually(
      () => serialLog(cluster, name),
      (text) => words.test(text),
      150_000,
    );
  };

  it.each(stacks)("is found again by the next instance, on stack-%s", async (stack) => {
    await chooseStack(cluster, stack);
    const name = `keeper-${stack}`;
    expect(await cluster.apply(stateClaim(name))).toMatchObject({ code: 0 });
    await boot(name, /UEFI was told[\s\S]*TPM was told/);
    const { status } = await look(name);
    expect(status?.volumeStatus?.map(({ persistentVolumeClaimInfo: info }) => info?.claimName)).toContain(
      `state-of-${name}`,
    );
    await remove(name);
    const log = await boot(name, /UEFI remembers[\s\S]*TPM remembers/);
    expect(log).toMatch(/UEFI remembers blue[\s\S]*TPM remembers gold/);
    await remove(name);
  });

  it("goes with an instance that stands alone, unless somebody keeps it", async () => {
    const name = "loner";
    await boot(name, /UEFI was told[\s\S]*TPM was told/);
    const claims = await claimsOf(name);
    expect(claims).toMatchObject([{ metadata: { ownerReferences: [{ kind: "VirtualMachineInstance", name }] } }]);
    expect((await look(name)).status?.volumeStatus?.map((entry) => entry.name)).toContain(claims[0]?.metadata.name);
    await remove(name);
    await eventually(
      () => claimsOf(name),
      (left) => left.length === 0,
    );
  });

  it("says why a guest waits whose claim gets no volume", async () => {
    const patch = (value: string | null) =>
      cluster.kubectl(
        "patch",
        "kubevirt",
        "kubevirt",
        "-n",
        "kubevirt",
        "--type=merge",
        "-p",
        JSON.stringify({ spec: { configuration: { vmStateStorageClass: value } } }),
      );
    expect(await patch("nowhere")).toMatchObject({ code: 0 });
    expect(await cluster.apply(manifest("waiter"))).toMatchObject({ code: 0 });
    const vmi = await eventually(
      () => look("waiter"),
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "PersistentStateClaimPending") === true,
    );
    expect(vmi.status?.conditions?.map(({ message }) => message).join(" ")).toContain(
      'storage class "nowhere" does not exist',
    );
    const events = await cluster.kubectl("get", "events", "--field-selector", `involvedObject.uid=${vmi.metadata.uid}`);
    expect(events.stdout).toContain("PersistentStateClaimPending");
    await remove("waiter");
    await patch(null);
  });
});
