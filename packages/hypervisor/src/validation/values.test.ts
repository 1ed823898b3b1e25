import { describe, expect, it } from "vitest";
import { type Case, causeOf, causes, disks, firstDisk } from "../testing/validation.ts";

const characters = "must be made up of the following characters [A-Za-z0-9_.-]";

describe("values that no machine can have", () => {
  it.each<Case>([
    {
      domain: disks({ name: "a", bootOrder: 1.5, disk: { bus: "virtio" } }),
      field: `${firstDisk}.bootOrder`,
      message: `${firstDisk}.bootOrder '1.5': must be a whole number from 0 to 4294967295.`,
    },
    {
      domain: { clock: { utc: { offsetSeconds: 0.5 } } },
      field: "spec.domain.clock.utc.offsetSeconds",
      message: "spec.domain.clock.utc.offsetSeconds '0.5': must be a whole number from -2147483648 to 2147483648.",
    },
    {
      domain: { ioThreadsPolicy: "supplementalPool", ioThreads: { supplementalPoolThreadCount: 1e21 } },
      field: "spec.domain.ioThreads.supplementalPoolThreadCount",
      message: "spec.domain.ioThreads.supplementalPoolThreadCount '1e+21': must be a whole number from 0 to 1024.",
    },
    {
      domain: { devices: { inputs: [{ name: "🙂", type: "tablet", bus: "usb" }] } },
      field: "spec.domain.devices.inputs[0].name",
      message: `spec.domain.devices.inputs[0].name ${characters}`,
    },
    {
      domain: { devices: { watchdog: { name: "../../etc" } } },
      field: "spec.domain.devices.watchdog.name",
      message: `spec.domain.devices.watchdog.name ${characters}`,
    },
    {
      domain: { cpu: { features: [{ name: "" }] } },
      field: "spec.domain.cpu.features[0].name",
      message: `spec.domain.cpu.features[0].name ${characters}`,
    },
    {
      domain: { chassis: { asset: "a\u0000b" } },
      field: "spec.domain.chassis.asset",
      message: "spec.domain.chassis.asset must not have control characters",
    },
    {
      domain: { firmware: { kernelBoot: { kernelArgs: "quiet \ud800" } } },
      field: "spec.domain.firmware.kernelBoot.kernelArgs",
      message: "spec.domain.firmware.kernelBoot.kernelArgs must not have control characters",
    },
    {
      domain: { memory: { guest: "1Gi", hugepages: { pageSize: "-2Mi" } } },
      field: "spec.domain.memory.hugepages.pageSize",
      message: "spec.domain.memory.hugepages.pageSize '-2Mi': must be greater than or equal to 1Ki.",
    },
    {
      domain: { memory: { guest: "8Pi" } },
      field: "spec.domain.memory.guest",
      message: "spec.domain.memory.guest '8Pi': must be less than 8Pi.",
    },
    {
      domain: { cpu: { sockets: 256, cores: 256, threads: 1 } },
      field: "spec.domain.cpu",
      message: "spec.domain.cpu has 65536 virtual CPUs, more than 65535",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });

  it("leaves unusual but possible ones alone", () => {
    expect(
      causes({
        domain: {
          chassis: { asset: "Größe <1> & 🙂\tx" },
          clock: { utc: { offsetSeconds: -3600 } },
          cpu: { sockets: 1, cores: 1, threads: 1, features: [{ name: "sse4.1", policy: "require" }] },
        },
      }),
    ).toEqual([]);
  });
});
