import { createLogger, describeError, systemClock, type Clock, type Logger } from "@polyvirt/core";
import { hypervisorModulesVariable } from "@polyvirt/api";
import type { HypervisorRegistry } from "@polyvirt/hypervisor";
import { createKubeClient, inClusterConnection, type KubeClient } from "@polyvirt/kube";
import { errors } from "./errors.ts";
import { knownHypervisors } from "./hypervisor-modules.ts";

/** What a role gets from the pod it runs in. */
export interface RoleContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the pod is told to stop. */
  readonly signal: AbortSignal;
  readonly args: readonly string[];
  /** Those that come with Polyvirt and those of `hypervisorModules`, which the environment names. */
  readonly hypervisors: HypervisorRegistry;
  readonly hypervisorModules: readonly string[];
  /** A variable that the role cannot do without. */
  readonly required: (name: string) => string;
}

/** Runs a role as the main program of its pod: connects to the API server, stops on SIGTERM, ends with an exit code. */
export async function runRole(role: string, main: (context: RoleContext) => Promise<void>): Promise<void> {
  const logger = createLogger({
    clock: systemClock,
    write: (line) => process.stdout.write(line),
    fields: { role },
  });
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => stop.abort());
  try {
    const client = await connect(logger);
    const hypervisorModules = (process.env[hypervisorModulesVariable] ?? "").split(",").filter((name) => name !== "");
    const hypervisors = await knownHypervisors(hypervisorModules);
    logger.info("started", { version: process.version });
    await main({
      client,
      clock: systemClock,
      logger,
      signal: stop.signal,
      args: process.argv.slice(2),
      hypervisors,
      hypervisorModules,
      required: requiredVariable,
    });
    client.close();
    logger.info("stopped");
  } catch (error) {
    if (stop.signal.aborted) return;
    logger.error("ended", { error: describeError(error) });
    process.exitCode = 1;
    // Watches and timers of the failed role must not keep a process alive that does nothing.
    process.exit();
  }
}

async function connect(logger: Logger): Promise<KubeClient> {
  const connection = await inClusterConnection({
    host: requiredVariable("KUBERNETES_SERVICE_HOST"),
    port: requiredVariable("KUBERNETES_SERVICE_PORT"),
    clock: systemClock,
  });
  return createKubeClient({ connection, clock: systemClock, logger });
}

function requiredVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw errors.CliEnvironmentMissing(`start: the environment variable ${name} is not set`, { fields: { name } });
  }
  return value;
}
