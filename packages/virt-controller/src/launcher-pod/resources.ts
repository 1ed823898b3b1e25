import { deviceResourcePrefix, type Quantity, type VirtualMachineInstance } from "@polyvirt/api";
import type { ResourceList, ResourceRequirements } from "@polyvirt/api/k8s";
import {
  formatQuantity,
  parseQuantity,
  quantityOfBytes,
  quantityToInteger,
  type Quantity as Amount,
} from "@polyvirt/core";
import { parseArchitecture, vcpuCount } from "@polyvirt/hypervisor";
import { errors } from "../errors.ts";
import { everyCandidateOffers, isNativeEverywhere } from "../placement/placement.ts";
import type { LauncherPodContext } from "./context.ts";
import { stackOverheadBytes } from "./launcher-stack.ts";

/** Room for the launcher's own files: sockets, logs, cloud-init images. */
const EPHEMERAL_STORAGE = "50M";

interface LauncherResources {
  readonly requirements: ResourceRequirements;
  readonly memoryOverheadBytes: number;
}

/** What the scheduler must find on a node: guest memory with our own on top, a share of CPUs, devices. */
export function launcherResources(vmi: VirtualMachineInstance, context: LauncherPodContext): LauncherResources {
  const devices = deviceCounts(vmi, context);
  const overhead = memoryOverhead(vmi, context, mayBeEmulated(context, devices));
  const { requests = {}, limits = {}, overcommitGuestOverhead } = vmi.spec.domain.resources ?? {};
  const memory = memoryOf(vmi, context, overcommitGuestOverhead === true ? 0n : overhead, overhead);
  const cpu = cpuOf(vmi, context);
  return {
    memoryOverheadBytes: Number(overhead),
    requirements: {
      requests: {
        ...asResourceList(requests),
        ...cpu.requests,
        ...memory.requests,
        "ephemeral-storage": EPHEMERAL_STORAGE,
        ...devices,
      },
      limits: { ...asResourceList(limits), ...cpu.limits, ...memory.limits, ...devices },
    },
  };
}

/** A guest that was not promised the node's hypervisor may have to do without. */
function mayBeEmulated({ config, hypervisor }: LauncherPodContext, devices: ResourceList): boolean {
  return config.useEmulation && devices[`${deviceResourcePrefix}${hypervisor.node.hypervisorDevice}`] === undefined;
}

function memoryOverhead(vmi: VirtualMachineInstance, context: LauncherPodContext, emulated: boolean): bigint {
  const { config, hypervisor } = context;
  const architecture = parseArchitecture(vmi.spec.architecture ?? config.defaultArchitecture);
  if (architecture === undefined) {
    throw errors.LauncherPodArchitectureUnknown(
      `make the launcher pod of ${vmi.metadata.namespace}/${vmi.metadata.name}: spec.architecture is ` +
        `"${vmi.spec.architecture}"; use amd64, arm64 or s390x`,
    );
  }
  const { additionalGuestMemoryOverheadRatio: ratio, networkBindings } = config;
  const stack = stackOverheadBytes(context, emulated);
  const { bytes } = hypervisor.resources.getMemoryOverhead(vmi, {
    architecture,
    networkBindings,
    ...(ratio === undefined ? {} : { ratio }),
    ...(stack === undefined ? {} : { virtLauncherOverheadBytes: stack }),
  });
  return BigInt(Math.ceil(bytes));
}

function memoryOf(vmi: VirtualMachineInstance, context: LauncherPodContext, requestExtra: bigint, limitExtra: bigint) {
  const { requests, limits } = vmi.spec.domain.resources ?? {};
  const { guest, hugepages } = vmi.spec.domain.memory ?? {};
  const wanted = requests?.memory ?? limits?.memory;
  const bytes =
    wanted !== undefined
      ? quantityToInteger(parse(wanted))
      : guest !== undefined
        ? (quantityToInteger(parse(guest)) * 100n) / BigInt(context.config.memoryOvercommit)
        : 0n;
  const limit = limits?.memory === undefined ? undefined : quantityToInteger(parse(limits.memory));
  if (hugepages?.pageSize !== undefined) {
    // The guest lives in huge pages, which are a resource of their own; ordinary memory is only for us.
    const pages = format(guest === undefined ? bytes : quantityToInteger(parse(guest)));
    const own = format(limitExtra);
    const name = `hugepages-${formatQuantity(parse(hugepages.pageSize))}`;
    return { requests: { memory: own, [name]: pages }, limits: { memory: own, [name]: pages } };
  }
  return {
    requests: { memory: format(bytes + requestExtra) },
    limits: limit === undefined ? {} : { memory: format(limit + limitExtra) },
  };
}

function cpuOf(vmi: VirtualMachineInstance, { config }: LauncherPodContext): ResourceRequirements {
  const { requests, limits } = vmi.spec.domain.resources ?? {};
  const cpus = vcpuCount(vmi.spec.domain);
  if (vmi.spec.domain.cpu?.dedicatedCpuPlacement === true) {
    const emulator = vmi.spec.domain.cpu.isolateEmulatorThread === true ? 1 : 0;
    const count = { cpu: String(cpus + emulator) };
    return { requests: count, limits: count };
  }
  if (requests?.cpu !== undefined) return {};
  if (limits?.cpu !== undefined) return { requests: { cpu: formatQuantity(parse(limits.cpu)) } };
  return { requests: { cpu: formatQuantity(parse(`${Math.ceil((cpus * 1000) / config.cpuAllocationRatio)}m`)) } };
}

function deviceCounts(vmi: VirtualMachineInstance, context: LauncherPodContext): ResourceList {
  const counts: ResourceList = {};
  const add = (name: string, count: number) => {
    counts[name] = String(Number(counts[name] ?? "0") + count);
  };
  const { hypervisor, config, placement } = context;
  for (const { device, resourceName, quantity, optional } of hypervisor.resources.deviceRequests(vmi, config)) {
    // The node's hypervisor is of no use to a guest that may have to be emulated there.
    const useful =
      device !== hypervisor.node.hypervisorDevice ||
      isNativeEverywhere(placement, vmi.spec.architecture ?? config.defaultArchitecture);
    if (!optional || (useful && everyCandidateOffers(placement, resourceName))) add(resourceName, quantity);
  }
  const { gpus = [], hostDevices = [] } = vmi.spec.domain.devices;
  for (const { deviceName } of [...gpus, ...hostDevices]) if (deviceName !== undefined) add(deviceName, 1);
  return counts;
}

function asResourceList(list: Readonly<Record<string, Quantity>>): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, value]) => [name, String(value)]));
}

function parse(quantity: Quantity): Amount {
  return parseQuantity(String(quantity));
}

function format(bytes: bigint): string {
  return formatQuantity(quantityOfBytes(bytes));
}
