/**
 * The launcher's main program. It talks to nobody but its node agent, so it has no API client; and because there is one for
 * every VM, it loads nothing that a running guest does not need.
 */
import { createLogger, describeError, parseDuration, systemClock } from "@polyvirt/core";
import { parseArchitecture, registry } from "@polyvirt/hypervisor";
import { createQemuStack } from "@polyvirt/stack-qemu";
import { composeVirtLauncher, podPaths, type VirtLauncher } from "@polyvirt/virt-launcher";
import { parseArguments, parseCount } from "../arguments.ts";
import { errors } from "../errors.ts";

const logger = createLogger({
  clock: systemClock,
  write: (line) => process.stdout.write(line),
  fields: { role: "virt-launcher" },
});
const stop = new AbortController();
for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => stop.abort());

try {
  const { exitCode, message } = await composeLauncher(process.argv.slice(2)).run(stop.signal);
  logger.info("ended", { message, exitCode });
  // Connections and timers of libraries must not keep a pod alive whose guest is gone.
  process.exit(exitCode);
} catch (error) {
  logger.error("ended", { error: describeError(error) });
  process.exit(1);
}

function composeLauncher(args: readonly string[]): VirtLauncher {
  const { values } = parseArguments(args, {
    name: { type: "string" },
    namespace: { type: "string" },
    uid: { type: "string" },
    hypervisor: { type: "string", default: "kvm" },
    "grace-period-seconds": { type: "string", default: "45" },
    "qemu-timeout": { type: "string", default: "240s" },
    "allow-emulation": { type: "boolean", default: false },
    "allow-cross-architecture": { type: "boolean", default: false },
    "kubevirt-share-dir": { type: "string", default: podPaths.public },
    "ephemeral-disk-dir": { type: "string", default: podPaths.ephemeralDisks },
    "container-disk-dir": { type: "string", default: podPaths.containerDisks },
    "private-dir": { type: "string", default: podPaths.private },
  });
  const required = (name: "name" | "namespace" | "uid"): string => {
    const value = values[name];
    if (value === undefined || value === "") throw errors.CliUsage(`start virt-launcher: --${name} must be given`);
    return value;
  };
  const hostArchitecture = parseArchitecture(process.arch);
  if (hostArchitecture === undefined) throw errors.CliUsage(`start virt-launcher: ${process.arch} is not supported`);
  const paths = {
    ...podPaths,
    private: values["private-dir"],
    public: values["kubevirt-share-dir"],
    sockets: `${values["kubevirt-share-dir"]}/sockets`,
    ephemeralDisks: values["ephemeral-disk-dir"],
    containerDisks: values["container-disk-dir"],
  };
  const graceSeconds = parseCount("grace-period-seconds", values["grace-period-seconds"], { min: 0, max: 1e6 });
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
    hypervisor: registry.get(values.hypervisor),
    hostArchitecture,
    clock: systemClock,
    logger,
    stack: createQemuStack({
      clock: systemClock,
      logger,
      scratchDirectory: paths.private,
      persistentDirectory: paths.persistentState,
    }),
  });
}
