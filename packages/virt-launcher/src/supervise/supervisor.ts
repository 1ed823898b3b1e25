import type { Clock, Logger } from "@polyvirt/core";
import { hasEnded, type DomainStatus, type Stack } from "@polyvirt/stack";

interface SupervisorDependencies {
  readonly stack: Stack;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long the guest may take to end when the launcher is told to stop. */
  readonly gracePeriodMs: number;
  /** How long to wait for a machine to be started at all. */
  readonly startTimeoutMs: number;
}

/** Why the launcher leaves, and with which exit code. */
export interface Ending {
  readonly exitCode: number;
  readonly message: string;
}

/**
 * Lives as long as the machine does. Returns when the machine has ended, when none was started in time, or when the
 * launcher is told to stop: then the guest is asked to end, and made to when its time is over.
 */
export async function supervise(dependencies: SupervisorDependencies, stop: AbortSignal): Promise<Ending> {
  const { stack, clock, logger, startTimeoutMs } = dependencies;
  const ended = machineEnd(stack);
  const first = await Promise.race([
    ended.then((status) => ({ kind: "ended", status }) as const),
    aborted(stop).then(() => ({ kind: "stop" }) as const),
    neverStarted(stack, clock, startTimeoutMs).then(() => ({ kind: "timeout" }) as const),
  ]);
  switch (first.kind) {
    case "ended":
      return endingOf(first.status);
    case "timeout":
      return { exitCode: 1, message: `no machine was started within ${startTimeoutMs / 1000} s` };
    case "stop":
      logger.info("told to stop");
      return stopMachine(dependencies, ended);
  }
}

async function stopMachine(dependencies: SupervisorDependencies, ended: Promise<DomainStatus>): Promise<Ending> {
  const { stack, clock, logger, gracePeriodMs } = dependencies;
  const domain = stack.lifecycle.domain();
  if (domain === undefined) return { exitCode: 0, message: "stopped before a machine was started" };
  if (hasEnded(domain.status)) return endingOf(domain.status);
  await askToEnd(dependencies, domain.status);
  const timer = clock.setTimer(gracePeriodMs, () => {
    logger.warn("the guest did not end in time; pulling the plug", { gracePeriodMs });
    stack.lifecycle.kill().catch((error: unknown) => logger.error("cannot end the machine", { error }));
  });
  const status = await ended;
  timer.cancel();
  return endingOf(status);
}

async function askToEnd({ stack, logger }: SupervisorDependencies, status: DomainStatus): Promise<void> {
  try {
    // A paused guest cannot hear the power button.
    if (status.state === "Paused") await stack.lifecycle.resume();
    await stack.lifecycle.shutdown();
  } catch (error) {
    logger.warn("cannot ask the guest to end", { error });
    await stack.lifecycle.kill();
  }
}

function endingOf(status: DomainStatus): Ending {
  const crashed = status.state === "Crashed";
  return { exitCode: crashed ? 1 : 0, message: status.message ?? `the machine has ended (${status.reason})` };
}

/** Resolves when the machine ends, and at once when it already has. */
function machineEnd(stack: Stack): Promise<DomainStatus> {
  return new Promise((resolve) => {
    const unsubscribe = stack.lifecycle.subscribe((event) => {
      if (event.kind !== "status" || !hasEnded(event.status)) return;
      unsubscribe();
      resolve(event.status);
    });
    const now = stack.lifecycle.domain();
    if (now !== undefined && hasEnded(now.status)) resolve(now.status);
  });
}

function neverStarted(stack: Stack, clock: Clock, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(limitMs, resolve);
    const unsubscribe = stack.lifecycle.subscribe(() => {
      timer.cancel();
      unsubscribe();
    });
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
