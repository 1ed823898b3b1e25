import type { Domain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { bareMachine } from "../testing/build-devices.ts";
import { testHost } from "../testing/machine-host.ts";
import { buildArguments } from "./build-arguments.ts";

const placementOf = (part: Partial<Domain>) => buildArguments({ ...bareMachine, ...part }, testHost).placement;

describe("where threads run", () => {
  it("is anywhere, when nothing is said", () => {
    expect(placementOf({})).toEqual({ vcpus: new Map(), iothreads: new Map(), emulator: undefined });
  });

  it("is one set for all, with exceptions", () => {
    const part: Partial<Domain> = {
      vcpu: { value: 2, cpuset: "0-3,^1" },
      iothreads: 1,
      cputune: { vcpupins: [{ vcpu: 1, cpuset: "7" }], iothreadpins: [{ iothread: 1, cpuset: "5" }] },
    };
    expect(placementOf(part)).toEqual({
      vcpus: new Map([
        [0, [0, 2, 3]],
        [1, [7]],
      ]),
      iothreads: new Map([["iothread1", [5]]]),
      emulator: [0, 2, 3],
    });
  });

  it.each<[string, Partial<Domain>]>([
    ["vcpu.cpuset", { vcpu: { value: 1, cpuset: "all" } }],
    ["cputune.vcpupins[0].vcpu", { cputune: { vcpupins: [{ vcpu: 1, cpuset: "0" }] } }],
    ["cputune.emulatorpin.cpuset", { cputune: { emulatorpin: {} } }],
    ["cputune.shares", { cputune: { shares: 10 } }],
  ])("is refused by path: %s", (path, part) => {
    expect(() => placementOf(part)).toThrow(path);
  });
});
