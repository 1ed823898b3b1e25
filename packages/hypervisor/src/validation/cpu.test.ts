import { describe, expect, it } from "vitest";
import { type Case, causeOf, causes, limits, requests } from "../testing/validation.ts";

describe("cpu", () => {
  const dedicated = "spec.domain.cpu.dedicatedCpuPlacement";
  const numa = "spec.domain.cpu.numa.guestMappingPassthrough";
  it.each<Case>([
    {
      domain: { resources: { requests: { cpu: "-1" } } },
      field: `${requests}.cpu`,
      message: `${requests}.cpu '-1': must be greater than or equal to 0.`,
    },
    {
      domain: { resources: { limits: { cpu: "-3" } } },
      field: `${limits}.cpu`,
      message: `${limits}.cpu '-3': must be greater than or equal to 0.`,
    },
    {
      domain: { resources: { requests: { cpu: "2500m" }, limits: { cpu: "500m" } } },
      field: `${requests}.cpu`,
      message: `${requests}.cpu '2500m' is greater than ${limits}.cpu '500m'`,
    },
    {
      domain: { cpu: { dedicatedCpuPlacement: true }, resources: { requests: { cpu: "400m" } } },
      field: `${requests}.cpu`,
      message: "provided resources CPU requests must be an interger",
    },
    {
      domain: { cpu: { dedicatedCpuPlacement: true }, resources: { limits: { cpu: "400m" } } },
      field: `${limits}.cpu`,
      message: "provided resources CPU limits must be an interger",
    },
    {
      domain: { cpu: { dedicatedCpuPlacement: true } },
      field: dedicated,
      message: `either ${requests}.cpu or ${limits}.cpu or spec.domain.cpu.cores must be provided when DedicatedCPUPlacement is true `,
    },
    {
      domain: { cpu: { dedicatedCpuPlacement: true, cores: 2, threads: 3 } },
      field: dedicated,
      message:
        "Not more than two threads must be provided at spec.domain.cpu.threads (got 3) when DedicatedCPUPlacement is true",
    },
    {
      domain: { cpu: { dedicatedCpuPlacement: true, cores: 2, threads: 2 } },
      spec: { architecture: "arm64" },
      field: "spec.architecture",
      message: "threads must not be greater than 1 at spec.domain.cpu.threads (got 2) when spec.architecture is arm64",
    },
    {
      domain: { cpu: { isolateEmulatorThread: true } },
      field: "spec.domain.cpu.isolateEmulatorThread",
      message: "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement",
    },
    {
      domain: { cpu: { features: [{ name: "lahf_lm", policy: "wish" }] } },
      reason: "FieldValueNotSupported",
      field: "spec.domain.cpu.features[0].policy",
      message: "CPU feature lahf_lm uses policy wish that is not supported.",
    },
    {
      domain: { cpu: { sockets: 4, maxSockets: 2 } },
      field: "spec.domain.cpu.sockets",
      message: "Number of sockets in CPU topology is greater than the maximum sockets allowed",
    },
    {
      domain: { cpu: { numa: { guestMappingPassthrough: {} } } },
      field: numa,
      message: `${dedicated} must be set to true when NUMA topology strategy is set in ${numa}`,
    },
    {
      domain: { cpu: { numa: { guestMappingPassthrough: {} } } },
      field: numa,
      message: `spec.domain.memory.hugepages must be requested when NUMA topology strategy is set in ${numa}`,
    },
    {
      domain: { cpu: { realtime: {} } },
      reason: "FieldValueRequired",
      field: dedicated,
      message: `${dedicated} must be set to true when spec.domain.cpu.realtime is used`,
    },
    {
      domain: { cpu: { realtime: { mask: "0-" } } },
      field: "spec.domain.cpu.realtime.mask",
      message: "spec.domain.cpu.realtime.mask '0-' is not a list of CPUs such as 0-3,^1",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });
});
