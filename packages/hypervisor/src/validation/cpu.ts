import { parseCpuSet } from "../cpu-set.ts";
import { cpusOf } from "../quantity.ts";
import { topologyOf } from "../vcpus.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

function checkRequestsAndLimits({ spec, field }: Subject, report: Report): void {
  const requestField = `${field}.domain.resources.requests.cpu`;
  const limitField = `${field}.domain.resources.limits.cpu`;
  const request = spec.domain.resources?.requests?.["cpu"];
  const limit = spec.domain.resources?.limits?.["cpu"];
  if (cpusOf(request) < 0)
    report.invalid(requestField, `${requestField} '${request}': must be greater than or equal to 0.`);
  if (cpusOf(limit) < 0) report.invalid(limitField, `${limitField} '${limit}': must be greater than or equal to 0.`);
  if (cpusOf(limit) > 0 && cpusOf(request) > cpusOf(limit)) {
    report.invalid(requestField, `${requestField} '${request}' is greater than ${limitField} '${limit}'`);
  }
}

function checkDedicated({ spec, field, architecture }: Subject, report: Report): void {
  const { cpu, resources } = spec.domain;
  const dedicatedField = `${field}.domain.cpu.dedicatedCpuPlacement`;
  if (cpu?.dedicatedCpuPlacement !== true) {
    if (cpu?.isolateEmulatorThread === true) {
      report.invalid(
        `${field}.domain.cpu.isolateEmulatorThread`,
        "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement",
      );
    }
    return;
  }
  const request = resources?.requests?.["cpu"];
  const limit = resources?.limits?.["cpu"];
  const requestField = `${field}.domain.resources.requests.cpu`;
  const limitField = `${field}.domain.resources.limits.cpu`;
  // The spelling is part of the interface: clients match on these words.
  if (!Number.isInteger(cpusOf(request)))
    report.invalid(requestField, "provided resources CPU requests must be an interger");
  if (!Number.isInteger(cpusOf(limit))) report.invalid(limitField, "provided resources CPU limits must be an interger");
  if (request === undefined && limit === undefined && !cpu.cores) {
    report.invalid(
      dedicatedField,
      `either ${requestField} or ${limitField} or ${field}.domain.cpu.cores must be provided when DedicatedCPUPlacement is true `,
    );
  }
  const threads = cpu.threads ?? 0;
  if (threads > 2) {
    report.invalid(
      dedicatedField,
      `Not more than two threads must be provided at ${field}.domain.cpu.threads (got ${threads}) when DedicatedCPUPlacement is true`,
    );
  }
  if (architecture === "arm64" && threads > 1) {
    report.invalid(
      `${field}.architecture`,
      `threads must not be greater than 1 at ${field}.domain.cpu.threads (got ${threads}) when ${field}.architecture is arm64`,
    );
  }
}

/** libvirt's limit. */
const maxVcpus = 65_535;

const featurePolicies = ["", "force", "require", "optional", "disable", "forbid"];

function checkFeatures({ spec, field }: Subject, report: Report): void {
  for (const [index, feature] of (spec.domain.cpu?.features ?? []).entries()) {
    if (featurePolicies.includes(feature.policy ?? "")) continue;
    report.notSupported(
      `${field}.domain.cpu.features[${index}].policy`,
      `CPU feature ${feature.name} uses policy ${feature.policy} that is not supported.`,
    );
  }
}

function checkTopology({ spec, field }: Subject, report: Report): void {
  const cpu = spec.domain.cpu;
  if (cpu?.maxSockets !== undefined && cpu.maxSockets > 0 && (cpu.sockets ?? 1) > cpu.maxSockets) {
    report.invalid(
      `${field}.domain.cpu.sockets`,
      "Number of sockets in CPU topology is greater than the maximum sockets allowed",
    );
  }
  for (const part of ["sockets", "cores", "threads", "maxSockets"] as const) {
    const value = cpu?.[part];
    if (value !== undefined && (!Number.isInteger(value) || value < 0)) {
      report.invalid(
        `${field}.domain.cpu.${part}`,
        `${field}.domain.cpu.${part} '${value}': must be a whole number greater than or equal to 0.`,
      );
    }
  }
  const { sockets, cores, threads } = topologyOf(cpu);
  const count = Math.max(sockets, cpu?.maxSockets ?? 0) * cores * threads;
  if (count > maxVcpus) {
    report.invalid(`${field}.domain.cpu`, `${field}.domain.cpu has ${count} virtual CPUs, more than ${maxVcpus}`);
  }
}

function checkNumaAndRealtime({ spec, field }: Subject, report: Report): void {
  const { cpu, memory } = spec.domain;
  const dedicatedField = `${field}.domain.cpu.dedicatedCpuPlacement`;
  const numaField = `${field}.domain.cpu.numa.guestMappingPassthrough`;
  if (cpu?.numa?.guestMappingPassthrough !== undefined) {
    if (cpu.dedicatedCpuPlacement !== true) {
      report.invalid(
        numaField,
        `${dedicatedField} must be set to true when NUMA topology strategy is set in ${numaField}`,
      );
    }
    if (memory?.hugepages === undefined) {
      report.invalid(
        numaField,
        `${field}.domain.memory.hugepages must be requested when NUMA topology strategy is set in ${numaField}`,
      );
    }
  }
  if (cpu?.realtime === undefined) return;
  if (cpu.dedicatedCpuPlacement !== true) {
    report.required(dedicatedField, `${dedicatedField} must be set to true when ${field}.domain.cpu.realtime is used`);
  }
  const { mask } = cpu.realtime;
  if (mask !== undefined && mask !== "" && parseCpuSet(mask) === undefined) {
    report.invalid(
      `${field}.domain.cpu.realtime.mask`,
      `${field}.domain.cpu.realtime.mask '${mask}' is not a list of CPUs such as 0-3,^1`,
    );
  }
}

export const cpuRules: readonly ValidationRule[] = [
  { name: "cpu-requests-and-limits", check: checkRequestsAndLimits },
  { name: "cpu-dedicated", check: checkDedicated },
  { name: "cpu-features", check: checkFeatures },
  { name: "cpu-topology", check: checkTopology },
  { name: "cpu-numa-realtime", check: checkNumaAndRealtime },
];
