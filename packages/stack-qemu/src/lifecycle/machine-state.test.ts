import { describe, expect, it } from "vitest";
import type { VmmExit } from "../process/vmm-process.ts";
import type { QmpEvent } from "../qmp/qmp-client.ts";
import { askedToEnd, askedToPause, onExit, onQmpEvent, startingState, type MachineState } from "./machine-state.ts";

const running = onQmpEvent(startingState, { name: "RESUME", data: {} }).state;
const exit: VmmExit = { code: 0, signal: undefined, stderr: "" };

function after(state: MachineState, ...events: (QmpEvent | string)[]): MachineState {
  return events.reduce(
    (current, event) => onQmpEvent(current, typeof event === "string" ? { name: event, data: {} } : event).state,
    state,
  );
}

const shutdown = (reason: string): QmpEvent => ({ name: "SHUTDOWN", data: { guest: true, reason } });

describe("machine state while QEMU runs", () => {
  it.each<[string, MachineState, object]>([
    ["begins paused", startingState, { state: "Paused", reason: "StartingUp" }],
    ["runs", running, { state: "Running" }],
    ["is paused by the user", after(askedToPause(running), "STOP"), { state: "Paused", reason: "User" }],
    ["is paused by nobody known", after(running, "STOP"), { state: "Paused", reason: "Unknown" }],
    ["resumes", after(askedToPause(running), "STOP", "RESUME"), { state: "Running" }],
    [
      "forgets a cause once it resumed",
      after(askedToPause(running), "STOP", "RESUME", "STOP"),
      { state: "Paused", reason: "Unknown" },
    ],
    [
      "is paused by a full disk",
      after(running, { name: "BLOCK_IO_ERROR", data: { action: "stop", nospace: true } }, "STOP"),
      { state: "Paused", reason: "IOError" },
    ],
    [
      "goes on after an error that is reported to the guest",
      after(running, { name: "BLOCK_IO_ERROR", data: { action: "report" } }),
      { state: "Running" },
    ],
    [
      "is paused by its watchdog",
      after(running, { name: "WATCHDOG", data: { action: "pause" } }, "STOP"),
      { state: "Paused", reason: "Watchdog" },
    ],
    ["is shutting down", after(running, shutdown("guest-shutdown"), "STOP"), { state: "ShuttingDown" }],
    ["sleeps", after(running, "SUSPEND"), { state: "PMSuspended" }],
    ["wakes", after(running, "SUSPEND", "WAKEUP"), { state: "Running" }],
    ["ignores what it does not know", after(running, "NIC_RX_FILTER_CHANGED"), { state: "Running" }],
  ])("%s", (_name, state, expected) => {
    expect(state.status).toMatchObject(expected);
  });

  it.each<[string, QmpEvent, object[]]>([
    ["a reset", { name: "RESET", data: { guest: true } }, [{ kind: "reset", byGuest: true }]],
    [
      "an I/O error with the device's id",
      {
        name: "BLOCK_IO_ERROR",
        data: {
          device: "",
          "qom-path": "/machine/peripheral/ua-data/virtio-backend",
          action: "stop",
          nospace: true,
          reason: "No space left on device",
        },
      },
      [{ kind: "ioError", device: "ua-data", noSpace: true, message: "No space left on device" }],
    ],
    [
      "a device that left",
      { name: "DEVICE_DELETED", data: { device: "ua-x", path: "/p" } },
      [{ kind: "deviceRemoved", alias: "ua-x" }],
    ],
    ["nothing for a part of a device", { name: "DEVICE_DELETED", data: { path: "/p/virtio-backend" } }, []],
    ["a new size", { name: "BALLOON_CHANGE", data: { actual: 1024 } }, [{ kind: "memoryChanged", bytes: 1024 }]],
  ])("reports %s", (_name, event, expected) => {
    expect(onQmpEvent(running, event).events).toEqual(expected);
  });
});

describe("how a machine ended", () => {
  it.each<[string, MachineState, Partial<VmmExit>, object]>([
    ["guest powered off", after(running, shutdown("guest-shutdown")), {}, { state: "Shutoff", reason: "Shutdown" }],
    [
      "guest rebooted into the end",
      after(running, shutdown("guest-reset")),
      {},
      { state: "Shutoff", reason: "Shutdown" },
    ],
    [
      "plug pulled",
      after(askedToEnd(running, "Destroyed"), shutdown("host-qmp-quit")),
      {},
      { state: "Shutoff", reason: "Destroyed" },
    ],
    [
      "plug pulled by force",
      askedToEnd(running, "Destroyed"),
      { signal: "SIGKILL" },
      { state: "Shutoff", reason: "Destroyed" },
    ],
    ["moved away", askedToEnd(running, "Migrated"), {}, { state: "Shutoff", reason: "Migrated" }],
    [
      "lost on the way",
      askedToEnd(running, "Lost"),
      { code: 0 },
      { state: "Crashed", message: expect.stringContaining("post-copy") },
    ],
    [
      "panicked",
      after(running, { name: "GUEST_PANICKED", data: { info: { type: "hyper-v", arg1: 7 } } }, shutdown("guest-panic")),
      {},
      { state: "Crashed", reason: "Panicked", message: expect.stringContaining("hyper-v") },
    ],
    [
      "killed by somebody",
      running,
      { signal: "SIGKILL", stderr: "warning: x\nlast words" },
      { state: "Crashed", reason: "Crashed", message: "QEMU was killed by SIGKILL: warning: x; last words" },
    ],
    [
      "aborted",
      running,
      { code: 134 },
      { state: "Crashed", reason: "Crashed", message: "QEMU ended with code 134: it wrote nothing" },
    ],
    ["told by a signal", after(running, shutdown("host-signal")), {}, { state: "Shutoff", reason: "Destroyed" }],
    [
      "host error",
      after(running, shutdown("host-error")),
      {},
      { state: "Crashed", message: expect.stringContaining("host-error") },
    ],
  ])("%s", (_name, state, how, expected) => {
    const { status } = onExit(state, { ...exit, ...how }).state;
    expect(status).toMatchObject(expected);
  });
});
