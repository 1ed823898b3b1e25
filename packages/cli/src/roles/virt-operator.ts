import { ports } from "@polyvirt/api";
import { parseArchitecture } from "@polyvirt/hypervisor";
import { startHealthServer } from "@polyvirt/kube";
import { composeVirtOperator, imageVariables } from "@polyvirt/virt-operator";
import { runRole } from "../role-process.ts";

await runRole("virt-operator", async ({ client, clock, logger, signal, hypervisors, hypervisorModules, required }) => {
  const operator = composeVirtOperator({
    client,
    clock,
    logger,
    namespace: required("POD_NAMESPACE"),
    identity: required("POD_NAME"),
    version: required("OPERATOR_VERSION"),
    architecture: parseArchitecture(process.arch) ?? process.arch,
    hypervisors,
    hypervisorModules,
    images: {
      virtApi: required(imageVariables.virtApi),
      virtController: required(imageVariables.virtController),
      virtHandler: required(imageVariables.virtHandler),
      virtLauncher: required(imageVariables.virtLauncher),
    },
  });
  // Stand-by replicas are ready, too: they can take over at any moment.
  const health = await startHealthServer({ host: required("POD_IP"), port: ports.health, isReady: () => true });
  await operator.run(signal);
  await health.close();
});
