import { describe, expect, it } from "vitest";
import { judgeProbe, probeLimit, type ProbeRun } from "./judge-probe.ts";
import { probeImage } from "./probe-guest.ts";

const emulated: ProbeRun = { stages: "ABCDEFG", finished: true, milliseconds: 600, words: "" };
const judge = (run: Partial<ProbeRun>) => judgeProbe("/dev/kvm", emulated, { ...emulated, ...run });

describe("the verdict about a hypervisor device", () => {
  it("is that it can be used when the guest finishes", () => {
    expect(judge({ milliseconds: 90.4 })).toEqual({
      path: "/dev/kvm",
      usable: true,
      reason: "",
      probeMilliseconds: 90,
    });
  });

  it.each([
    ["stuck in a loop", { stages: "ABC" }, /long mode with paging within 3200 ms; emulated.* 600 ms.*a loop/],
    ["stuck in interrupts", { stages: "ABCDEF" }, /no further than port input.*timer interrupts/],
    ["never started", { stages: "", words: "MSR 0x123" }, /no further than its start.*real mode \(QEMU: MSR 0x123\)/],
  ])("says how far a guest got that is %s", (_, run, reason) => {
    const verdict = judge({ ...run, finished: false, milliseconds: probeLimit(emulated) });
    expect(verdict.usable).toBe(false);
    expect(verdict.reason).toMatch(reason);
  });

  it("gives no more than twice the emulated time and a start", () => {
    expect(probeLimit(emulated)).toBe(3_200);
  });
});

describe("the probe's guest", () => {
  it("is a firmware image whose last 16 bytes jump to its beginning", () => {
    const image = Buffer.from(probeImage());
    expect(image.length).toBe(65_536);
    expect(image.subarray(-16, -11).toString("hex")).toBe("ea000000f0");
    // cli: the first thing that it does.
    expect(image[0]).toBe(0xfa);
  });
});
