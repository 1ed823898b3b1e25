import { probeStages } from "./probe-guest.ts";

/** What the probe's guest did under one accelerator. */
export interface ProbeRun {
  /** Letters of the stages that it got through. */
  readonly stages: string;
  readonly finished: boolean;
  readonly milliseconds: number;
  /** The last words of QEMU, when it ended by itself. */
  readonly words: string;
}

export interface DeviceVerdict {
  readonly path: string;
  readonly usable: boolean;
  /** Why it is of no use; empty when it is. */
  readonly reason: string;
  /** How long the guest took, or how long it was waited for. */
  readonly probeMilliseconds: number;
}

/** Starting QEMU takes a while on a busy node, whatever runs in it. */
const startAllowanceMs = 2_000;

/**
 * How long the guest may take with the device. A hypervisor is there to be faster than emulation, by far; one that needs
 * even twice as long is of no use.
 */
export function probeLimit(emulated: ProbeRun): number {
  return 2 * emulated.milliseconds + startAllowanceMs;
}

export function judgeProbe(path: string, emulated: ProbeRun, accelerated: ProbeRun): DeviceVerdict {
  const probeMilliseconds = Math.round(accelerated.milliseconds);
  if (accelerated.finished) return { path, usable: true, reason: "", probeMilliseconds };
  const reached = probeStages.filter(({ letter }) => accelerated.stages.includes(letter));
  const next = probeStages[reached.length]?.name ?? "the end";
  const words = accelerated.words === "" ? "" : ` (QEMU: ${accelerated.words})`;
  const reason =
    `a test guest got no further than ${reached.at(-1)?.name ?? "its start"} within ${probeMilliseconds} ms; ` +
    `emulated, all of it takes ${Math.round(emulated.milliseconds)} ms. It did not get through ${next}${words}`;
  return { path, usable: false, reason, probeMilliseconds };
}
