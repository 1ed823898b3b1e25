import { parseArgs } from "node:util";
import { ports } from "@polyvirt/api";
import { parseArchitecture } from "@polyvirt/hypervisor";
import { startHealthServer } from "@polyvirt/kube";
import { composeVirtController } from "@polyvirt/virt-controller";
import { errors } from "../errors.ts";
import { runRole } from "../role-process.ts";

await runRole(
  "virt-controller",
  async ({ client, clock, logger, signal, args, hypervisors, hypervisorModules, required }) => {
    const { values } = parseArgs({ args: [...args], options: { "launcher-image": { type: "string" } } });
    const launcherImage = values["launcher-image"];
    if (launcherImage === undefined) {
      throw errors.CliUsage("start virt-controller: --launcher-image IMAGE is missing");
    }
    const hostArchitecture = parseArchitecture(process.arch);
    if (hostArchitecture === undefined) {
      throw errors.CliUsage(`start virt-controller: ${process.arch} is not supported`);
    }
    const controller = composeVirtController({
      client,
      clock,
      logger,
      hypervisors,
      hypervisorModules,
      launcherImage,
      hostArchitecture,
      namespace: required("POD_NAMESPACE"),
      identity: required("POD_NAME"),
    });
    // Stand-by replicas are ready, too: they can take over at any moment.
    const health = await startHealthServer({ host: required("POD_IP"), port: ports.health, isReady: () => true });
    await controller.run(signal);
    await health.close();
  },
);
