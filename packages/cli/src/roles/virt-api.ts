import { certificateMounts, ports } from "@polyvirt/api";
import { parseArchitecture } from "@polyvirt/hypervisor";
import { composeVirtApi } from "@polyvirt/virt-api";
import manifest from "../../package.json" with { type: "json" };
import { errors } from "../errors.ts";
import { runRole } from "../role-process.ts";

await runRole("virt-api", async ({ client, clock, logger, signal, hypervisors, required }) => {
  const architecture = parseArchitecture(process.arch);
  if (architecture === undefined) {
    throw errors.CliUsage(`start virt-api: ${process.arch} is not supported`);
  }
  const virtApi = composeVirtApi({
    client,
    clock,
    logger,
    architecture,
    hypervisors,
    namespace: required("POD_NAMESPACE"),
    address: required("POD_IP"),
    port: ports.virtApi,
    serverCertificates: certificateMounts.virtApi.mountPath,
    handlerCertificates: certificateMounts.virtHandlerClient.mountPath,
    version: manifest.version,
  });
  await virtApi.run(signal);
});
