/**
 * The launcher's main program, the same for every stack: its bundle brings the stack along. It talks to nobody but its node
 * agent, so it has no API client; and because there is one for every VM, it loads nothing that a running guest does not
 * need.
 */
import { createLogger, describeError, parseDuration, systemClock, type Clock, type Logger } from "@polyvirt/core";
import { parseArchitecture, type Architecture } from "@polyvirt/hypervisor";
import type { Stack } from "@polyvirt/stack";
import { composeVirtLauncher, podPaths, type VirtLauncher } from "@polyvirt/virt-launcher";
import { parseArguments, parseCount } from "../arguments.ts";
import { errors } from "../errors.ts";
import { knownHypervisors } from "../hypervisor-modules.ts";
import { exportNodeCapabilities } from "./export-node-capabilities.ts";

interface StackDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Directory of this launcher's own. */
  readonly scratchDirectory: string;
  /** Where state that outlives the launcher is kept. */
  readonly persistentDirectory: string;
  /** Whether the stack is only asked what it can do, and may keep what it finds out for launchers to come. */
  readonly exporting: boolean;
}

interface LauncherBundle {
  /** The bundle's name, which is its image's, too. */
  readonly role: string;
  readonly createStack: (dependencies: StackDependencies) => Stack;
}

const flags = {
  name: { type: "string" },
  namespace: { type: "string" },
  uid: { type: "string" },
  hypervisor: { type: "string", default: "kvm" },
  "hypervisor-module": { type: "string", multiple: true },
  "grace-period-seconds": { type: "string", default: "45" },
  "qemu-timeout": { type: "string", default: "240s" },
  "allow-emulation": { type: "boolean", default: false },
  "allow-cross-architecture": { type: "boolean", default: false },
  "kubevirt-share-dir": { type: "string", default: podPaths.public },
  "ephemeral-disk-dir": { type: "string", default: podPaths.ephemeralDisks },
  "container-disk-dir": { type: "string", default: podPaths.containerDisks },
  "private-dir": { type: "string", default: podPaths.private },
  // The other thing that a launcher's image is good for: telling what its stack can do on a node.
  "export-capabilities": { type: "string" },
  // What the administrator calls them, if not by the hypervisor's own names.
  "hypervisor-device": { type: "string" },
  "virt-type": { type: "string" },
} as const;

/** Runs until the machine has ended, or until the capabilities are written, and ends the process. */
export async function runLauncher(bundle: LauncherBundle): Promise<never> {
  const logger = createLogger({
    clock: systemClock,
    write: (line) => process.stdout.write(line),
    fields: { role: bundle.role },
  });
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => stop.abort());
  try {
    const { exitCode, message } = await (await compose(bundle, logger)).run(stop.signal);
    logger.info("ended", { message, exitCode });
    // Connections and timers of libraries must not keep a pod alive whose guest is gone.
    process.exit(exitCode);
  } catch (error) {
    logger.error("ended", { error: describeError(error) });
    process.exit(1);
  }
}

async function compose(bundle: LauncherBundle, logger: Logger): Promise<VirtLauncher> {
  const { values } = parseArguments(process.argv.slice(2), flags);
  const hostArchitecture = parseArchitecture(process.arch);
  if (hostArchitecture === undefined) throw errors.CliUsage(`start ${bundle.role}: ${process.arch} is not supported`);
  const directory = values["export-capabilities"];
  if (directory === undefined) return await composeLauncher(bundle, values, hostArchitecture, logger);
  const createStack = (scratchDirectory: string) =>
    bundle.createStack({
      clock: systemClock,
      logger,
      scratchDirectory,
      persistentDirectory: scratchDirectory,
      exporting: true,
    });
  return {
    async run() {
      const files = await exportNodeCapabilities({
        directory,
        device: values["hypervisor-device"] ?? "kvm",
        virtType: values["virt-type"] ?? "kvm",
        hostArchitecture,
        clock: systemClock,
        logger,
        createStack,
      });
      return { exitCode: 0, message: `wrote ${files.join(", ")}` };
    },
  };
}

type LauncherFlags = ReturnType<typeof parseArguments<typeof flags>>["values"];

async function composeLauncher(
  bundle: LauncherBundle,
  values: LauncherFlags,
  hostArchitecture: Architecture,
  logger: Logger,
): Promise<VirtLauncher> {
  const required = (name: "name" | "namespace" | "uid"): string => {
    const value = values[name];
    if (value === undefined || value === "") throw errors.CliUsage(`start ${bundle.role}: --${name} must be given`);
    return value;
  };
  const paths = {
    ...podPaths,
    private: values["private-dir"],
    public: values["kubevirt-share-dir"],
    sockets: `${values["kubevirt-share-dir"]}/sockets`,
    ephemeralDisks: values["ephemeral-disk-dir"],
    containerDisks: values["container-disk-dir"],
    hotplugDisks: `${values["kubevirt-share-dir"]}/hotplug-disks`,
  };
  const graceSeconds = parseCount("grace-period-seconds", values["grace-period-seconds"], { min: 0, max: 1e6 });
  const hypervisors = await knownHypervisors(values["hypervisor-module"] ?? []);
  return composeVirtLauncher({
    options: {
      vmi: { name: required("name"), namespace: required("namespace"), uid: required("uid") },
      podName: process.env["POD_NAME"] ?? "",
      podAddress: process.env["POD_IP"],
      hypervisor: values.hypervisor,
      gracePeriodMs: graceSeconds * 1000,
      startTimeoutMs: parseDuration(values["qemu-timeout"]),
      allowEmulation: values["allow-emulation"],
      allowCrossArchitecture: values["allow-cross-architecture"],
      deviceVariables: process.env,
    },
    paths,
    hypervisor: hypervisors.select({
      name: values.hypervisor,
      ...(values["hypervisor-device"] === undefined ? {} : { hypervisorDevice: values["hypervisor-device"] }),
      ...(values["virt-type"] === undefined ? {} : { virtType: values["virt-type"] }),
    }),
    hostArchitecture,
    clock: systemClock,
    logger,
    stack: bundle.createStack({
      clock: systemClock,
      logger,
      scratchDirectory: paths.private,
      persistentDirectory: paths.persistentState,
      exporting: false,
    }),
  });
}
