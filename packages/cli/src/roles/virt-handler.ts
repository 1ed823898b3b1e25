import { certificateMounts, ports } from "@polyvirt/api";
import { parseArchitecture } from "@polyvirt/hypervisor";
import { startHealthServer } from "@polyvirt/kube";
import { composeVirtHandler } from "@polyvirt/virt-handler";
import { errors } from "../errors.ts";
import { runRole } from "../role-process.ts";

await runRole("virt-handler", async ({ client, clock, logger, signal, hypervisors, required }) => {
  const hostArchitecture = parseArchitecture(process.arch);
  if (hostArchitecture === undefined) {
    throw errors.CliUsage(`start virt-handler: ${process.arch} is not supported`);
  }
  const address = required("POD_IP");
  const handler = composeVirtHandler({
    client,
    clock,
    logger,
    hostArchitecture,
    hypervisors,
    nodeName: required("NODE_NAME"),
    console: {
      host: address,
      port: ports.virtHandlerConsole,
      certificateDirectory: certificateMounts.virtHandlerServer.mountPath,
    },
  });
  const health = await startHealthServer({ host: address, port: ports.health, isReady: () => handler.isReady() });
  await handler.run(signal);
  await health.close();
});
