import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PolyvirtError, silentLogger, systemClock } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { podVolume, startLauncherDouble, type LauncherDouble } from "../testing/launcher-double.ts";
import { domainWith, NODE, POD_UID, VMI_UID, vmiWith } from "../testing/objects.ts";
import { openGhostRecords } from "./ghost-records.ts";
import { createLauncherDirectory } from "./launcher-directory.ts";
import { createLaunchers, launcherOf, type Launchers } from "./launchers.ts";

let root: string;
let pods: string;
let launchers: Launchers;
let doubles: LauncherDouble[];
let story: string[];

const record = { uid: VMI_UID, name: "hello", namespace: "default", podUid: POD_UID };

function restart(): Launchers {
  return createLaunchers({
    directory: createLauncherDirectory(pods),
    clock: systemClock,
    logger: silentLogger,
    ghosts: openGhostRecords(join(root, "ghosts"), silentLogger),
    onChange: ({ name }) => story.push(`changed ${name}`),
    onEvent: (_record, event) => story.push(`${event.type} ${event.reason}: ${event.message}`),
  });
}

async function startDouble(): Promise<LauncherDouble> {
  const double = await startLauncherDouble(pods);
  doubles.push(double);
  return double;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pv-"));
  pods = join(root, "pods");
  mkdirSync(pods);
  doubles = [];
  story = [];
  launchers = restart();
});
afterEach(async () => {
  await launchers.close();
  await Promise.all(doubles.map((double) => double.kill()));
  rmSync(root, { recursive: true });
});

describe("look", () => {
  it("waits for a launcher that has not opened its socket yet", async () => {
    expect(await launchers.look(record)).toMatchObject({ state: "absent", commands: undefined });
    await startDouble();
    expect(await launchers.look(record)).toMatchObject({ state: "connected", domain: undefined });
    expect(launchers.known()).toEqual([record]);
  });

  it("asks a launcher that knows only QEMU for its version", async () => {
    await startDouble();
    const { commands } = await launchers.look(record);
    expect(await commands?.getVmm()).toEqual({ name: "QEMU", version: "7.2.0" });
  });

  it("drives the launcher and hears of its machine", async () => {
    const double = await startDouble();
    const { commands } = await launchers.look(record);
    await commands?.sync(vmiWith(), {});
    await commands?.send("shutdown", vmiWith());
    expect(double.calls).toEqual(["sync", "shutdown"]);
    await double.notify(domainWith("Running"));
    expect(story).toEqual(["changed hello"]);
    expect((await launchers.look(record)).domain?.Status.Status).toBe("Running");
  });

  it("finds a running machine again after a restart, without touching it", async () => {
    const double = await startDouble();
    double.domain = domainWith("Running");
    await launchers.look(record);
    await launchers.close();
    launchers = restart();
    expect(launchers.known()).toEqual([record]);
    expect(await launchers.look(record)).toMatchObject({
      state: "connected",
      domain: { Status: { Status: "Running" } },
    });
    await double.notify(domainWith("Paused", "User"));
    expect(story).toEqual(["changed hello"]);
    expect(double.calls).toEqual([]);
  });

  it("notices at once when the launcher is killed, and keeps the machine's last state", async () => {
    const double = await startDouble();
    await launchers.look(record);
    await double.notify(domainWith("Running"));
    await double.kill();
    await vi.waitFor(() => expect(story).toEqual(["changed hello", "changed hello"]));
    expect(await launchers.look(record)).toMatchObject({
      state: "lost",
      lostReason: "the launcher's process has ended",
      domain: { Status: { Status: "Running" } },
    });
  });

  it.each([
    ["socket stays but nobody listens", () => {}],
    ["whole pod is gone", () => rmSync(join(pods, POD_UID), { recursive: true })],
  ])("knows after a restart that a launcher ended meanwhile: the %s", async (_name, change) => {
    const double = await startDouble();
    await launchers.look(record);
    await launchers.close();
    await double.kill();
    change();
    launchers = restart();
    expect(await launchers.look(record)).toMatchObject({ state: "lost" });
  });

  it("forgets when told", async () => {
    await startDouble();
    await launchers.look(record);
    await launchers.forget(record.uid);
    expect(launchers.known()).toEqual([]);
  });

  it("tells hopeless failures from those that may pass", async () => {
    const double = await startDouble();
    const { commands } = await launchers.look(record);
    double.syncError = new PolyvirtError("StackRefused", "the kernel image has no file /vmlinuz", { retry: false });
    await expect(commands?.sync(vmiWith(), {})).rejects.toMatchObject({
      code: "HandlerLauncherFailed",
      message: "start or update the machine of default/hello: the kernel image has no file /vmlinuz",
    });
    double.syncError = new PolyvirtError("StackBusy", "later", { retry: true });
    await expect(commands?.sync(vmiWith(), {})).rejects.toMatchObject({ retry: true });
  });
});

describe("what a pod may not do", () => {
  it("does not follow a socket that is a link to another pod's", async () => {
    await startDouble();
    const other = "pod-2";
    const sockets = podVolume(pods, "sockets", other);
    symlinkSync(join(podVolume(pods, "sockets"), "launcher-sock"), join(sockets, "launcher-sock"));
    await expect(launchers.look({ ...record, uid: "other", podUid: other })).rejects.toMatchObject({
      code: "HostPathUnsafe",
    });
  });

  it("does not follow a folder that is a link", async () => {
    await startDouble();
    const volume = podVolume(pods, "sockets");
    renameSync(volume, `${volume}-moved`);
    symlinkSync(`${volume}-moved`, volume);
    await expect(launchers.look(record)).rejects.toMatchObject({ code: "HostPathUnsafe" });
  });

  it("does not take an ordinary file for a socket", async () => {
    writeFileSync(join(podVolume(pods, "sockets"), "launcher-sock"), "");
    await expect(launchers.look(record)).rejects.toMatchObject({ code: "HostPathUnsafe" });
  });

  it("refuses events about other machines", async () => {
    const double = await startDouble();
    await launchers.look(record);
    const stranger = { ...domainWith("Shutoff"), ObjectMeta: { name: "other", namespace: "default", uid: "x" } };
    await expect(double.notify(stranger)).rejects.toMatchObject({ fields: { remoteCode: "HandlerEventRefused" } });
    const event = { involvedObject: { uid: "x" }, reason: "Fake", message: "fake" };
    await expect(double.notifyEvent(event)).rejects.toMatchObject({ fields: { remoteCode: "HandlerEventRefused" } });
    expect(story).toEqual([]);
  });

  it("passes on events about its own", async () => {
    const double = await startDouble();
    await launchers.look(record);
    await double.notifyEvent({ involvedObject: { uid: VMI_UID }, type: "Warning", reason: "IOerror", message: "disk" });
    expect(story).toEqual(["Warning IOerror: disk"]);
  });

  it("replaces a file that lies where its event socket belongs", async () => {
    const double = await startDouble();
    writeFileSync(join(podVolume(pods, "public"), "domain-notify-pipe.sock"), "stale");
    await launchers.look(record);
    await double.notify(domainWith("Running"));
    expect(story).toEqual(["changed hello"]);
  });
});

describe("launcherOf", () => {
  it("takes only the pod that the status puts on this node", () => {
    expect(launcherOf(vmiWith(), NODE)).toEqual(record);
    expect(launcherOf(vmiWith(), "node-2")).toBeUndefined();
    expect(launcherOf(vmiWith({ activePods: {} }), NODE)).toBeUndefined();
  });
});
