import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject, type Clock, type JsonValue } from "@polyvirt/core";
import { judgeProbe, probeLimit, type DeviceVerdict, type ProbeRun } from "./judge-probe.ts";
import { probeExitCode, probeImage, probeStages } from "./probe-guest.ts";

interface ProbeDependencies {
  readonly clock: Clock;
  /** The hypervisor's device, without `/dev/`: `kvm`, `mshv`. */
  readonly device: string;
  /** Which boot of the machine this is: a verdict holds until the next one. */
  readonly bootId: string;
  /** Where verdicts are kept. */
  readonly directory: string;
  /** As Node names it. */
  readonly hostArchitecture: string;
  /** The QEMU that runs the guest. */
  readonly emulator?: string;
}

const emulationLimitMs = 60_000;
/** How long a process that was killed may take to be gone. One that the kernel does not let go of never is. */
const deathLimitMs = 5_000;
const maxWords = 300;

/**
 * Finds out whether the hypervisor of this machine can run guests, by running one. A device node that opens proves
 * nothing: on nested hosts it may be there and yet be slower than emulation by orders of magnitude.
 */
export async function probeHypervisor(dependencies: ProbeDependencies): Promise<DeviceVerdict> {
  const { device, directory } = dependencies;
  const path = `/dev/${device}`;
  const closed = await whyClosed(path);
  // Not kept: a device may appear, or its rights change, while the machine runs.
  if (closed !== undefined) return { path, usable: false, reason: closed, probeMilliseconds: 0 };
  const { emulator = "/usr/bin/qemu-system-x86_64" } = dependencies;
  const cache = join(directory, `${device}-probe.json`);
  const circumstances = { bootId: dependencies.bootId, path, emulator: await identityOf(emulator) };
  const known = await readVerdict(cache, circumstances);
  if (known !== undefined) return known;
  const { verdict, isFinal } = await runProbe({ ...dependencies, emulator }, path);
  if (isFinal) await writeAtomically(cache, `${JSON.stringify({ ...circumstances, ...verdict }, undefined, 2)}\n`);
  return verdict;
}

/** What a verdict depends on: with another boot, device or QEMU it is asked for again. */
interface Circumstances {
  readonly bootId: string;
  readonly path: string;
  readonly emulator: string;
}

/** Tells one build of a program from another, also where they lie at the same path of different images. */
async function identityOf(program: string): Promise<string> {
  const { size, mtimeMs } = await stat(program).catch(() => ({ size: 0, mtimeMs: 0 }));
  return `${program} of ${size} bytes, ${new Date(mtimeMs).toISOString()}`;
}

interface Judgement {
  readonly verdict: DeviceVerdict;
  /** Whether it says something about the device, and not only about the moment. */
  readonly isFinal: boolean;
}

async function runProbe(
  { clock, device, hostArchitecture, emulator }: ProbeDependencies & { readonly emulator: string },
  path: string,
): Promise<Judgement> {
  // The guest is made of x86 code. Hosts of other architectures are not nested as a rule, and the device has opened.
  if (hostArchitecture !== "x64") {
    return { verdict: { path, usable: true, reason: "", probeMilliseconds: 0 }, isFinal: true };
  }
  const folder = await mkdtemp(join(tmpdir(), "probe-"));
  try {
    const image = join(folder, "guest.bin");
    await writeFile(image, probeImage());
    const run = (accelerator: string, limitMs: number) => runGuest({ clock, emulator, image, accelerator, limitMs });
    const emulated = await run("tcg", emulationLimitMs);
    if (!emulated.finished) {
      const words = emulated.words === "" ? `within ${emulationLimitMs / 1000} s` : `(${emulated.words})`;
      const reason = `there is nothing to compare with: emulated, the test guest did not finish ${words}`;
      return { verdict: { path, usable: false, reason, probeMilliseconds: 0 }, isFinal: false };
    }
    const limitMs = probeLimit(emulated);
    const accelerated = await run(device, limitMs);
    // A verdict against the device lasts for long. QEMU that ends by itself may have met with something that passes (no
    // memory, a device that was busy), and another try costs little; one that has run out of time has had its chance.
    const endedEarly = !accelerated.finished && accelerated.milliseconds < limitMs;
    const last = endedEarly ? await run(device, limitMs) : accelerated;
    return { verdict: judgeProbe(path, emulated, last), isFinal: true };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function probeArguments(image: string, accelerator: string): string[] {
  const machine = ["-machine", "pc", "-accel", accelerator, "-m", "64", "-bios", image];
  const console = ["-chardev", "stdio,id=console", "-device", "isa-debugcon,iobase=0x402,chardev=console"];
  const exit = ["-device", "isa-debug-exit,iobase=0x501", "-no-reboot"];
  return ["-no-user-config", "-nodefaults", "-display", "none", ...machine, ...console, ...exit];
}

interface GuestRun {
  readonly clock: Clock;
  readonly emulator: string;
  readonly image: string;
  readonly accelerator: string;
  readonly limitMs: number;
}

function runGuest({ clock, emulator, image, accelerator, limitMs }: GuestRun): Promise<ProbeRun> {
  return new Promise((resolve) => {
    const started = clock.monotonic();
    const args = ["--pdeathsig", "KILL", "--", emulator, ...probeArguments(image, accelerator)];
    const child = spawn("setpriv", args, { stdio: ["ignore", "pipe", "pipe"] });
    let stages = "";
    let words = "";
    // SAFETY: what a guest writes is cut to what a well-behaved one could write.
    child.stdout.on("data", (chunk: Buffer) => (stages = (stages + chunk.toString()).slice(0, probeStages.length + 1)));
    child.stderr.on("data", (chunk: Buffer) => (words = (words + chunk.toString()).slice(-maxWords)));
    const end = (finished: boolean, last = words): void => {
      timer.cancel();
      const milliseconds = clock.monotonic() - started;
      resolve({ stages, milliseconds, words: complaints(last), finished });
    };
    const abandon = (): void => {
      // Nobody can end it; but nobody has to wait for it either.
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      end(false, `it hangs in the kernel and cannot be ended; ${words}`);
    };
    let timer = clock.setTimer(limitMs, () => {
      child.kill("SIGKILL");
      timer = clock.setTimer(deathLimitMs, abandon);
    });
    child.once("error", (error) => end(false, error.message));
    child.once("close", (code) => end(code === probeExitCode));
  });
}

/** Warnings about features that the guest does not use explain nothing. */
function complaints(words: string): string {
  const lines = words.split("\n").filter((line) => line.trim() !== "" && !line.includes("warning:"));
  return lines.join("; ");
}

async function whyClosed(path: string): Promise<string | undefined> {
  try {
    await (await open(path, "r+")).close();
    return undefined;
  } catch (error) {
    // A failed call of Node's has a code.
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? `there is no ${path}` : `${path} cannot be opened: ${code}`;
  }
}

async function readVerdict(file: string, wanted: Circumstances): Promise<DeviceVerdict | undefined> {
  try {
    // What JSON.parse returns is a JSON value.
    const value = JSON.parse(await readFile(file, "utf8")) as JsonValue;
    if (!isJsonObject(value) || Object.entries(wanted).some(([name, text]) => value[name] !== text)) return undefined;
    const { usable, reason, probeMilliseconds } = value;
    if (typeof usable !== "boolean" || typeof reason !== "string" || typeof probeMilliseconds !== "number") {
      return undefined;
    }
    return { path: wanted.path, usable, reason, probeMilliseconds };
  } catch {
    // None was kept, or nothing that can be read.
    return undefined;
  }
}

async function writeAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, file);
}
