import { existsSync } from "node:fs";
import { readFile, symlink, rm, writeFile } from "node:fs/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listProcesses } from "@polyvirt/host";
import { bootSectorGreeting, ConsoleClient } from "@polyvirt/stack/conformance";
import { FakeHandler } from "./testing/fake-handler.ts";
import { buildLauncher, TestPod, type LauncherProcess } from "./testing/launcher-process.ts";

/** Everything that is said about a launcher and its guest holds whatever runs the guest. */
const launchers = [
  { role: "virt-launcher-qemu", installed: true },
  { role: "virt-launcher-libvirt", installed: existsSync("/usr/sbin/libvirtd") || existsSync("/usr/sbin/virtqemud") },
];

const bundles = new Map<string, string>();
let bundle: string;
let pod: TestPod;
let handler: FakeHandler;
let launcher: LauncherProcess | undefined;

beforeAll(async () => {
  for (const { role } of launchers) bundles.set(role, await buildLauncher(role));
});

beforeEach(async () => {
  pod = await TestPod.make();
  handler = new FakeHandler(pod.commandSocket);
  launcher = undefined;
});

afterEach(async () => {
  launcher?.child.kill("SIGKILL");
  await launcher?.exited;
  await handler.close();
  await pod.dispose();
});

const limit = { timeout: 20_000, interval: 20 };

async function startReady(...extra: string[]): Promise<LauncherProcess> {
  launcher = pod.start(bundle, ...extra);
  const running = launcher;
  await expect.poll(() => existsSync(pod.commandSocket) || running.output().includes('"ended"'), limit).toBe(true);
  return launcher;
}

const request = () => ({ vmi: { vmiJson: Buffer.from(JSON.stringify(pod.vmi)) } });

async function startGuest(): Promise<LauncherProcess> {
  await handler.listen(pod.notifySocket);
  const running = await startReady();
  await handler.cmd.syncVirtualMachine(request());
  return running;
}

function qemuOf(parent: number): number | undefined {
  return listProcesses().find((entry) => entry.parent === parent && entry.command.startsWith("qemu-system"))?.pid;
}

const use = (role: string) => () => (bundle = bundles.get(role) ?? "");

describe.each(launchers)("$role and its guest", ({ role, installed }) => {
  beforeEach(({ skip }) => skip(!installed, "no libvirt daemon is installed (package libvirt-daemon)"));
  beforeEach(use(role));

  it("boots, talks, powers off when asked, reports the end and leaves", async () => {
    const running = await startGuest();
    expect((await handler.info.info({})).supportedCmdVersions).toEqual([1]);
    const console = await ConsoleClient.open(pod.serialSocket);
    await console.echo("hello");
    expect(await readFile(`${pod.serialSocket}-log`, "utf8")).toContain(bootSectorGreeting.trim());
    const { domain } = await handler.cmd.getDomain({});
    expect(JSON.parse(domain)).toMatchObject({ ObjectMeta: { name: "tiny" }, Status: { Status: "Running" } });
    expect((await handler.cmd.getVmmName({})).name).toBe("QEMU");
    expect((await handler.cmd.getVmmVersion({})).version).toBe((await handler.cmd.getQemuVersion({})).version);
    expect((await handler.cmd.getScreenshot(request())).mime).toBe("image/png");
    expect(JSON.parse((await handler.cmd.getDomainStats({})).domainStats)).toMatchObject({
      Name: "default_tiny",
      Block: [{ Alias: "root", RdBytesSet: true }],
    });
    expect((await handler.cmd.getDomainDirtyRateStats({})).response).toMatchObject({ success: true });
    const asked = { domainStats: {}, dirtyRate: {}, guestGetLoad: {} };
    const parts = await handler.cmd.getVMStats(asked, { timeoutMs: 20_000 });
    expect(JSON.parse(parts.domainStats?.domainStats ?? "")).toMatchObject({ Name: "default_tiny" });
    expect(parts.dirtyRateStats?.dirtyRateMbs).toBeGreaterThanOrEqual(0n);
    expect(parts.guestGetLoad).toMatchObject({ success: false });
    expect(parts.guestGetUsers).toBeUndefined();
    expect((await handler.cmd.getCapabilities({})).capabilities).toMatchObject({ vmmName: "QEMU", virtType: "qemu" });
    expect((await handler.cmd.getGuestInfo({})).guestAgentCondition).toMatchObject({ connected: false });

    await handler.cmd.shutdownVirtualMachine(request());
    expect(await running.exited).toBe(0);
    expect(handler.told().at(0)).toMatch(/^ADDED/);
    expect(handler.told().slice(-2)).toEqual(["MODIFIED Shutoff/Shutdown", "DELETED Shutoff/Shutdown"]);
    expect(existsSync(pod.commandSocket)).toBe(false);
    console.close();
  });

  it("may be synced again and again", async () => {
    const running = await startGuest();
    await Promise.all([1, 2, 3].map(() => handler.cmd.syncVirtualMachine(request())));
    const machines = listProcesses().filter(
      (entry) => entry.parent === running.pid && entry.command.startsWith("qemu-system"),
    );
    expect(machines).toHaveLength(1);
  });

  it("pauses and resumes", async () => {
    await startGuest();
    await handler.cmd.pauseVirtualMachine(request());
    await expect.poll(() => handler.told().at(-1), limit).toBe("MODIFIED Paused/User");
    await handler.cmd.unpauseVirtualMachine(request());
    await expect.poll(() => handler.told().at(-1), limit).toBe("MODIFIED Running/Unknown");
  });

  it("ends with code 1 and the reason when QEMU is killed", async () => {
    const running = await startGuest();
    process.kill(qemuOf(running.pid) ?? 0, "SIGKILL");
    expect(await running.exited).toBe(1);
    expect(handler.told().slice(-2)).toEqual(["MODIFIED Crashed/Crashed", "DELETED Crashed/Crashed"]);
    expect(handler.notifications.at(-1)?.domain.message).toContain("SIGKILL");
  });

  it("takes QEMU with it when it is killed", async () => {
    const running = await startGuest();
    const qemu = qemuOf(running.pid);
    expect(qemu).toBeDefined();
    running.child.kill("SIGKILL");
    await running.exited;
    await expect
      .poll(() => listProcesses().some((entry) => entry.pid === qemu && entry.state !== "Z"), limit)
      .toBe(false);
  });

  it("asks the guest to end when it is told to stop", async () => {
    const running = await startGuest();
    const console = await ConsoleClient.open(pod.serialSocket);
    await console.echo("up");
    running.child.kill("SIGTERM");
    expect(await running.exited).toBe(0);
    expect(handler.told().at(-1)).toBe("DELETED Shutoff/Shutdown");
    console.close();
  });

  it("pulls the plug when the guest does not end within the grace period", async () => {
    await handler.listen(pod.notifySocket);
    const running = await startReady("--grace-period-seconds", "1");
    await handler.cmd.syncVirtualMachine(request());
    const console = await ConsoleClient.open(pod.serialSocket);
    await console.echo("up");
    console.type("I");
    await console.echo("deaf");
    running.child.kill("SIGTERM");
    expect(await running.exited).toBe(0);
    expect(handler.told().at(-1)).toBe("DELETED Shutoff/Destroyed");
    console.close();
  });

  it("loses no state while the node agent is away", async () => {
    await startReady();
    await handler.cmd.syncVirtualMachine(request());
    await handler.cmd.killVirtualMachine(request());
    await handler.listen(pod.notifySocket);
    await expect.poll(() => handler.told(), limit).toEqual(["ADDED Shutoff/Destroyed", "DELETED Shutoff/Destroyed"]);
    expect(await launcher?.exited).toBe(0);
  });

  it("leaves when it is told to stop before it has a machine", async () => {
    const running = await startReady();
    running.child.kill("SIGTERM");
    expect(await running.exited).toBe(0);
  });
});

describe("a launcher refuses", () => {
  beforeEach(use("virt-launcher-qemu"));

  it("a VMI that is not its own", async () => {
    await startReady();
    const other = { ...pod.vmi, metadata: { ...pod.vmi.metadata, uid: "another" } };
    await expect(
      handler.cmd.syncVirtualMachine({ vmi: { vmiJson: Buffer.from(JSON.stringify(other)) } }),
    ).rejects.toMatchObject({ fields: { remoteCode: "LauncherVmiMismatch" } });
  });

  it("what its stack has not, by name", async () => {
    await startReady();
    await expect(handler.cmd.getSEVInfo({})).rejects.toMatchObject({
      code: "ProtocolUnimplemented",
      message: expect.stringContaining("not supported by stack qemu"),
    });
  });

  it.each<[string, (path: string) => Promise<void>, string]>([
    ["a symlink out of the image", (path) => symlink("/etc/passwd", path), "HostPathUnsafe"],
    [
      "an image with a backing file",
      (path) =>
        writeFile(path, Buffer.concat([Buffer.from("514649fb000000030000000000000400", "hex"), Buffer.alloc(1024)])),
      "LauncherImageRefused",
    ],
  ])("%s", async (_name, place, code) => {
    const disk = pod.containerDisk("root", "disk", "disk.img");
    await rm(disk);
    await place(disk);
    await startReady();
    await expect(handler.cmd.syncVirtualMachine(request())).rejects.toMatchObject({ fields: { remoteCode: code } });
  });

  it("a path that leads out of the image", async () => {
    const [volume] = pod.vmi.spec.volumes ?? [];
    if (volume?.containerDisk !== undefined) volume.containerDisk.path = "../../private/x";
    await startReady();
    await expect(handler.cmd.syncVirtualMachine(request())).rejects.toMatchObject({
      fields: { remoteCode: "HostPathUnsafe" },
    });
  });
});
