import { describe, expect, it } from "vitest";
import type { DomainEvent } from "@polyvirt/stack";
import { guestEvent } from "./guest-events.ts";

const vmi = { name: "vm", namespace: "ns", uid: "u" };

describe("guestEvent", () => {
  it.each<[DomainEvent, string, string]>([
    [
      { kind: "ioError", device: "ua-data", noSpace: true, message: "No space left on device" },
      "IOerror",
      "VM Paused due to not enough space on volume: data",
    ],
    [
      { kind: "ioError", device: "ua-data", noSpace: false, message: "EIO" },
      "IOerror",
      "VM Paused due to IO error at the volume: data",
    ],
    [{ kind: "guestPanicked", message: "oops" }, "GuestPanicked", "The guest's kernel panicked: oops"],
    [{ kind: "reset", byGuest: true }, "GuestRebooted", "The guest rebooted."],
  ])("tells of %s", (event, reason, message) => {
    expect(guestEvent(event, vmi)).toMatchObject({ reason, message, involvedObject: { name: "vm", uid: "u" } });
  });

  it.each<DomainEvent>([
    { kind: "status", status: { state: "Running", reason: "Unknown" } },
    { kind: "reset", byGuest: false },
    { kind: "memoryChanged", bytes: 1 },
  ])("keeps quiet about $kind", (event) => {
    expect(guestEvent(event, vmi)).toBeUndefined();
  });
});
