import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { typeInConsole } from "./console.ts";
import { guestManifest, type Vmi } from "./guest.ts";
import { run } from "./run.ts";
import { chooseStack, stacks } from "./stacks.ts";

const kernelImage = "polyvirt.local/demo-guest-agent:1";

describe("a guest with QEMU's agent", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo", "--agent");
  });
  afterAll(() => cluster.destroy());

  const pathOf = (name: string, subresource: string) =>
    `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/${name}/${subresource}`;
  const get = (name: string, subresource: string) => cluster.kubectl("get", "--raw", pathOf(name, subresource));
  const put = (name: string, subresource: string, body: object = {}) =>
    run("kubectl", ["replace", "--raw", pathOf(name, subresource), "-f", "-"], {
      env: { KUBECONFIG: `${cluster.dataDir}/kubeconfig` },
      input: JSON.stringify(body),
    });
  const ask = async <T>(name: string, subresource: string): Promise<T> => {
    const { code, stdout, stderr } = await get(name, subresource);
    if (code !== 0) throw new Error(`${subresource}: ${stderr}`);
    // The shape is what the test expects of the API; a wrong one fails in the test's assertions.
    return JSON.parse(stdout) as T;
  };
  const look = (name: string) => cluster.json<Vmi>("get", "vmi", name);
  const condition = (vmi: Vmi, type: string) => vmi.status?.conditions?.find((entry) => entry.type === type);
  const untilCondition = (name: string, type: string, status: string, limitMs = 120_000) =>
    eventually(
      () => look(name),
      (vmi) => (condition(vmi, type)?.status ?? "missing") === status,
      limitMs,
    );
  const untilPhase = (name: string, phase: string, limitMs = 120_000) =>
    eventually(
      () => look(name),
      (vmi) => vmi.status?.phase === phase,
      limitMs,
    );

  it.each(stacks)(
    "tells of itself, is frozen, thawed and rebooted on stack-%s",
    async (stack) => {
      await chooseStack(cluster, stack);
      const name = `talker-${stack}`;
      expect(await cluster.apply(guestManifest(name, { kernelImage, memory: "192Mi" }))).toMatchObject({ code: 0 });
      await untilPhase(name, "Running");
      // It boots: nobody answers yet.
      expect((await get(name, "guestosinfo")).stderr).toContain("VMI does not have guest agent connected");
      await untilCondition(name, "AgentConnected", "True");
      expect(await ask(name, "guestosinfo")).toMatchObject({
        kind: "VirtualMachineInstanceGuestAgentInfo",
        hostname: name,
        os: { id: "polyvirt-demo", machine: "x86_64" },
        supportedCommands: expect.arrayContaining([{ name: "guest-ping", enabled: true }]),
        fsInfo: { disks: [expect.objectContaining({ mountPoint: "/mnt/vda" })] },
      });
      expect(await ask(name, "userlist")).toMatchObject({ kind: "VirtualMachineInstanceGuestOSUserList", items: [] });
      expect(await ask(name, "filesystemlist")).toMatchObject({
        kind: "VirtualMachineInstanceFileSystemList",
        items: [{ diskName: "vda", mountPoint: "/mnt/vda", fileSystemType: "ext4", disk: [{ busType: "virtio" }] }],
      });
      expect((await put(name, "freeze")).stderr).toContain("freezing needs a limit");
      expect(await put(name, "freeze", { unfreezeTimeout: "10m" })).toMatchObject({ code: 0, stderr: "" });
      expect(await ask(name, "guestosinfo")).toMatchObject({ fsFreezeStatus: "frozen" });
      const frozen = await eventually(
        () => cluster.json<Vmi & { status: { fsFreezeStatus?: string; guestOSInfo?: object } }>("get", "vmi", name),
        ({ status }) => status.fsFreezeStatus === "frozen",
      );
      expect(frozen.status.guestOSInfo).toMatchObject({ id: "polyvirt-demo" });
      expect(condition(frozen, "AgentVersionNotSupported")).toBeUndefined();
      expect(await put(name, "unfreeze")).toMatchObject({ code: 0, stderr: "" });
      // Frozen and forgotten: it goes on by itself.
      expect(await put(name, "freeze", { unfreezeTimeout: "1s" })).toMatchObject({ code: 0, stderr: "" });
      await eventually(
        () => ask<{ fsFreezeStatus?: string }>(name, "guestosinfo"),
        ({ fsFreezeStatus }) => fsFreezeStatus === undefined,
      );
      for (const query of ["", "?moveCursor=true"]) {
        expect((await get(name, `vnc/screenshot${query}`)).stdout.slice(0, 8)).toContain("PNG");
      }
      expect((await get(name, "sev/fetchcertchain")).stderr).toContain("AMD SEV");
      const marked = { input: "touch /run/before; echo $((6 * 7))-marked\n", until: /42-marked/ };
      await typeInConsole(cluster, name, marked);
      expect(await put(name, "softreboot")).toMatchObject({ code: 0, stderr: "" });
      const fresh = { input: "[ -e /run/before ] || echo $((6 * 7))-fresh\n", until: /42-fresh/ };
      await typeInConsole(cluster, name, fresh);
      expect((await look(name)).status?.phase).toBe("Running");
      await cluster.kubectl("delete", "vmi", name, "--timeout=60s");
    },
    400_000,
  );

  it("is ready when a command in it says so, and has the credentials that its secrets hold", async () => {
    await chooseStack(cluster, "qemu");
    const name = "keeper";
    await cluster.apply(secretManifest("keys", { ann: "ssh-ed25519 AAAA ann", bob: "ssh-ed25519 BBBB bob" }));
    await cluster.apply(secretManifest("passwords", { root: "first" }));
    const extra = `
  - { name: init, cloudInitNoCloud: { userData: "#!/bin/sh" } }
  readinessProbe:
    exec: { command: [/bin/test, -e, /run/ready] }
    periodSeconds: 2
    timeoutSeconds: 5
    failureThreshold: 1
  accessCredentials:
  - sshPublicKey:
      source: { secret: { secretName: keys } }
      propagationMethod: { qemuGuestAgent: { users: [root] } }
  - sshPublicKey:
      source: { secret: { secretName: keys } }
      propagationMethod: { noCloud: {} }
  - userPassword:
      source: { secret: { secretName: passwords } }
      propagationMethod: { qemuGuestAgent: {} }
`;
    // Debian's cloud kernel sees no disk on another bus.
    const manifest = guestManifest(name, { kernelImage, memory: "192Mi" })
      .replace("disk: { bus: virtio } }]", "disk: { bus: virtio } }, { name: init, disk: { bus: virtio } }]")
      .replace("volumes: [{ name: words,", "volumes:\n  - { name: words,")
      .replace('demo-disk:1" } }]', 'demo-disk:1" } }');
    expect(await cluster.apply(manifest.trimEnd() + extra)).toMatchObject({ code: 0, stderr: "" });
    await untilCondition(name, "AccessCredentialsSynchronized", "True");
    const info = await cluster.polyvirt("guest", "info", name);
    expect(info).toMatchObject({ code: 0, stdout: expect.stringContaining('"hostname": "keeper"') });
    const guestSays = (command: string, until: RegExp, limitMs = 90_000) =>
      typeInConsole(cluster, name, { input: `${command}\n`, until, limitMs });
    await guestSays("cat /root/.ssh/authorized_keys | tr '\\n' ','; echo", /AAAA ann,ssh-ed25519 BBBB bob/);
    await guestSays("cat /mnt/*/meta-data", /"public-keys":\{"0":"ssh-ed25519 AAAA ann"/);
    await guestSays("cut -c1-8 /etc/shadow", /root:\$1/);
    expect(condition(await look(name), "Ready")?.status).toBe("False");
    await guestSays("touch /run/ready; echo $((6 * 7))-done", /42-done/);
    await untilCondition(name, "Ready", "True");
    await guestSays("rm /run/ready; echo $((6 * 6))-gone", /36-gone/);
    await untilCondition(name, "Ready", "False");
    // Secrets change: what they held leaves the guest, what they hold now comes.
    await cluster.apply(secretManifest("keys", { ann: "ssh-ed25519 CCCC ann" }));
    await guestSays("echo keys: $(cat /root/.ssh/authorized_keys)", /keys: ssh-ed25519 CCCC ann\s*$/m, 180_000);
    await cluster.apply(secretManifest("passwords", { root: "first", "nobody-here": "x" }));
    const failed = await untilCondition(name, "AccessCredentialsSynchronized", "False");
    expect(condition(failed, "AccessCredentialsSynchronized")?.message).toContain("guest-set-user-password");
    const reasons = await cluster.kubectl("get", "events", "-o", "jsonpath={.items[*].reason}");
    expect(reasons.stdout).toContain("AccessCredentialsSyncSuccess");
    expect(reasons.stdout).toContain("AccessCredentialsSyncFailed");
    await cluster.kubectl("delete", "vmi", name, "--timeout=60s");
  }, 500_000);

  it("ends when its agent no longer answers", async () => {
    const name = "mortal";
    const extra = `
  livenessProbe:
    guestAgentPing: {}
    initialDelaySeconds: 30
    periodSeconds: 2
    timeoutSeconds: 3
    failureThreshold: 2
`;
    const manifest = guestManifest(name, { kernelImage, memory: "192Mi", extra });
    expect(await cluster.apply(manifest)).toMatchObject({ code: 0, stderr: "" });
    await untilCondition(name, "AgentConnected", "True");
    await untilCondition(name, "Ready", "True");
    await typeInConsole(cluster, name, { input: "killall qemu-ga; echo $((6 * 7))-killed\n", until: /42-killed/ });
    // The kubelet ends the launcher, which presses the power button.
    const ended = await untilPhase(name, "Succeeded", 180_000);
    const about = (kind: string) => `involvedObject.kind=${kind}`;
    const told = (kind: string) =>
      cluster.kubectl("get", "events", "--field-selector", about(kind), "-o", "jsonpath={.items[*].message}");
    expect((await told("VirtualMachineInstance")).stdout).toContain("Probe failed: ping the guest's agent");
    expect((await told("Pod")).stdout).toContain("Container compute failed liveness probe");
    expect(ended.status?.reason).toBe("GuestShutdown");
  }, 400_000);
});

function secretManifest(name: string, values: Readonly<Record<string, string>>): string {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
  return JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name }, data });
}
