import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
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
  /** Where verdicts and the guest's image are kept. */
  readonly directory: string;
  /** As Node names it. */
  readonly hostArchitecture: string;
}

const emulationLimitMs = 60_000;
const emulator = "qemu-system-x86_64";
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
  const cache = join(directory, `${device}-probe.json`);
  const known = await readVerdict(cache, dependencies.bootId, path);
  if (known !== undefined) return known;
  const verdict = await runProbe(dependencies, path);
  await writeAtomically(cache, `${JSON.stringify({ bootId: dependencies.bootId, ...verdict }, undefined, 2)}\n`);
  return verdict;
}

async function runProbe(dependencies: ProbeDependencies, path: string): Promise<DeviceVerdict> {
  const { clock, device, directory, hostArchitecture } = dependencies;
  // The guest is made of x86 code. Hosts of other architectures are not nested as a rule, and the device has opened.
  if (hostArchitecture !== "x64") return { path, usable: true, reason: "", probeMilliseconds: 0 };
  const folder = await mkdtemp(join(directory, "probe-"));
  try {
    const image = join(folder, "guest.bin");
    await writeFile(image, probeImage());
    const emulated = await runGuest(clock, image, "tcg", emulationLimitMs);
    if (!emulated.finished) {
      const reason = `there is nothing to compare with: emulated, the test guest did not finish (${emulated.words})`;
      return { path, usable: false, reason, probeMilliseconds: 0 };
    }
    const accelerated = await runGuest(clock, image, device, probeLimit(emulated));
    return judgeProbe(path, emulated, accelerated);
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

function runGuest(clock: Clock, image: string, accelerator: string, limitMs: number): Promise<ProbeRun> {
  return new Promise((resolve) => {
    const started = clock.monotonic();
    const args = ["--pdeathsig", "KILL", "--", emulator, ...probeArguments(image, accelerator)];
    const child = spawn("setpriv", args, { stdio: ["ignore", "pipe", "pipe"] });
    let stages = "";
    let words = "";
    // SAFETY: what a guest writes is cut to what a well-behaved one could write.
    child.stdout.on("data", (chunk: Buffer) => (stages = (stages + chunk.toString()).slice(0, probeStages.length + 1)));
    child.stderr.on("data", (chunk: Buffer) => (words = (words + chunk.toString()).slice(-maxWords)));
    const timer = clock.setTimer(limitMs, () => void child.kill("SIGKILL"));
    const end = (finished: boolean, last = words): void => {
      timer.cancel();
      const milliseconds = clock.monotonic() - started;
      resolve({ stages, finished, milliseconds, words: complaints(last) });
    };
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

async function readVerdict(file: string, bootId: string, path: string): Promise<DeviceVerdict | undefined> {
  try {
    // What JSON.parse returns is a JSON value.
    const value = JSON.parse(await readFile(file, "utf8")) as JsonValue;
    if (!isJsonObject(value) || value["bootId"] !== bootId || value["path"] !== path) return undefined;
    const { usable, reason, probeMilliseconds } = value;
    if (typeof usable !== "boolean" || typeof reason !== "string" || typeof probeMilliseconds !== "number") {
      return undefined;
    }
    return { path, usable, reason, probeMilliseconds };
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
