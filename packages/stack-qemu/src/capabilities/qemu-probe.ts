import { errors } from "@polyvirt/stack";
import type { Clock } from "@polyvirt/core";
import { guestArchitecture } from "../arguments/architecture.ts";
import { monitorFd, type SpawnVmm } from "../process/vmm-process.ts";
import { connectQmp, type QmpClient } from "../qmp/qmp-client.ts";

interface ProbeDependencies {
  readonly clock: Clock;
  readonly spawn: SpawnVmm;
}

/** Accelerators as QEMU names them, by the definition's `type`. */
const accelerators: Readonly<Record<string, string>> = { qemu: "tcg", kvm: "kvm", hyperv: "mshv" };

const probeTimeoutMs = 20_000;

/** Asks a QEMU that runs no machine what it can do. It lives for the questions only; answers are kept. */
export class QemuProbe {
  readonly #dependencies: ProbeDependencies;
  readonly #versions = new Map<string, Promise<string>>();

  constructor(dependencies: ProbeDependencies) {
    this.#dependencies = dependencies;
  }

  /** The version of the emulator for an architecture under QEMU's name for it. */
  version(architecture: string): Promise<string> {
    const known = this.#versions.get(architecture) ?? this.ask(architecture, "qemu", async (qmp) => qmp.version);
    this.#versions.set(architecture, known);
    // A failure is not an answer: ask again the next time.
    known.catch(() => this.#versions.delete(architecture));
    return known;
  }

  async ask<T>(architecture: string, virtType: string, questions: (qmp: QmpClient) => Promise<T>): Promise<T> {
    const emulator = guestArchitecture(architecture, "none")?.emulator;
    const accelerator = accelerators[virtType];
    if (emulator === undefined || accelerator === undefined) {
      throw errors.StackNotSupported(`ask for capabilities of ${virtType} on ${architecture}: not known to stack qemu`);
    }
    const { clock, spawn } = this.#dependencies;
    const machine = ["-no-user-config", "-nodefaults", "-display", "none", "-machine", "none", "-accel", accelerator];
    const monitor = ["-chardev", `socket,id=monitor,fd=${monitorFd}`, "-mon", "chardev=monitor,mode=control"];
    const process = await spawn(emulator, [...machine, "-S", ...monitor]);
    try {
      const qmp = await connectQmp({
        connection: process.monitor,
        clock,
        timeoutMs: probeTimeoutMs,
        onEvent: () => {},
      });
      return await questions(qmp);
    } catch (cause) {
      process.kill("SIGKILL");
      const { stderr } = await process.exited;
      throw errors.StackCommandFailed(
        `ask ${emulator} for its capabilities: ${stderr.slice(-500) || "it gave no reason"}`,
        { cause },
      );
    } finally {
      process.kill("SIGKILL");
      await process.exited;
    }
  }
}
