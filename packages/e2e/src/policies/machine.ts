import type { PolicyRequest } from "./policy-case.ts";

export const machinePath = "/apis/kubevirt.io/v1/namespaces/<namespace>/virtualmachineinstances";

export const createMachine = (name: string, domain: object): PolicyRequest => ({
  method: "POST",
  path: machinePath,
  body: {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name },
    spec: { domain: { devices: {}, ...domain } },
  },
});
