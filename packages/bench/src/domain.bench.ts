import { writeDomain, type Domain, type readDomain, type validateDomain } from "@polyvirt/domain";
import { XMLBuilder, XMLParser } from "fast-xml-parser";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { fastest, inFreshProcess, withBundle, type Bundle } from "./measure.ts";

/** A machine as KubeVirt's users run it, with as many disks as asked for. */
function machine(disks: number): Domain {
  const address = (slot: number) => ({
    type: "pci",
    domain: "0x0000",
    bus: `0x0${slot % 8}`,
    slot: "0x00",
    function: "0x0",
  });
  return {
    type: "kvm",
    name: `default_vm-${disks}`,
    uuid: "0d8a4b1c-6b0e-4c53-9f0a-0a6c1e0f2b3d",
    memory: { value: 1_073_741_824, unit: "b" },
    vcpu: { value: 2, placement: "static" },
    sysinfos: [{ type: "smbios", system: { entries: [{ name: "manufacturer", value: "Polyvirt & co" }] } }],
    os: { type: { value: "hvm", arch: "x86_64", machine: "pc-q35-7.2" }, smbios: { mode: "sysinfo" } },
    features: { acpi: {}, apic: {}, hyperv: { mode: "custom", relaxed: { state: "on" } } },
    cpu: { mode: "host-model", topology: { sockets: 1, cores: 2, threads: 1 } },
    clock: { offset: "utc", timers: [{ name: "rtc", tickpolicy: "catchup" }] },
    onPoweroff: "destroy",
    devices: {
      emulator: "/usr/bin/qemu-system-x86_64",
      disks: Array.from({ length: disks }, (_, index) => ({
        type: "file",
        device: "disk",
        driver: { name: "qemu", type: "qcow2", cache: "none", errorPolicy: "stop", discard: "unmap" },
        source: { file: `/var/run/kubevirt-ephemeral-disks/disk-data/disk${index}/disk.qcow2` },
        backingStore: { type: "file", format: { type: "raw" }, source: { file: `/disks/disk${index}.img` } },
        target: { dev: `vd${String.fromCharCode(97 + (index % 26))}`, bus: "virtio" },
        alias: { name: `ua-disk${index}` },
        address: address(index),
      })),
      controllers: [
        { type: "usb", index: 0, model: "none" },
        { type: "scsi", index: 0, model: "virtio-non-transitional" },
      ],
      interfaces: [
        { type: "ethernet", mac: { address: "52:54:00:11:22:33" }, model: { type: "virtio-non-transitional" } },
      ],
      serials: [{ type: "unix", sources: [{ mode: "bind", path: "/virt-serial0" }], target: { port: "0" } }],
      consoles: [{ type: "pty", target: { type: "serial", port: "0" } }],
      channels: [{ type: "unix", target: { type: "virtio", name: "org.qemu.guest_agent.0" } }],
      memballoon: { model: "virtio-non-transitional", stats: { period: 10 } },
    },
  };
}

/** What the package costs a fresh process: run as one bundle, the way the launcher has it. */
function coldStart({ file }: Bundle): { loadMs: number; firstMs: number; heapMiB: number } {
  const [loadMs = 0, firstMs = 0, heapMiB = 0] = inFreshProcess(`
    const xml = ${JSON.stringify(writeDomain(machine(4)))};
    gc(); const heap = process.memoryUsage().heapUsed; const start = performance.now();
    const domain = await import(${JSON.stringify(file)}); const loaded = performance.now();
    const model = domain.readDomain(xml);
    if (domain.validateDomain(model).length > 0 || domain.writeDomain(model) !== xml) throw new Error("wrong result");
    const done = performance.now(); gc();
    console.log(JSON.stringify([loaded - start, done - loaded, (process.memoryUsage().heapUsed - heap) / 1048576]));`);
  return { loadMs, firstMs, heapMiB };
}

export const benchmark: Benchmark = {
  name: "domain",
  summary: "domain XML to model and back, and validation, beside fast-xml-parser; a machine with 4 disks",
  async run(report) {
    const model = machine(4);
    const xml = writeDomain(model);
    const parser = new XMLParser({ ignoreAttributes: false });
    const builder = new XMLBuilder({ ignoreAttributes: false, format: true });
    const parsed: unknown = parser.parse(xml);
    await withBundle(`export { readDomain, validateDomain, writeDomain } from "@polyvirt/domain";`, async (bundle) => {
      // It is the bundle of these very functions.
      const ours = (await import(bundle.file)) as {
        readDomain: typeof readDomain;
        validateDomain: typeof validateDomain;
        writeDomain: typeof writeDomain;
      };
      const time = fastest({
        read: () => ours.readDomain(xml),
        peerRead: () => parser.parse(xml),
        write: () => ours.writeDomain(model),
        peerWrite: () => builder.build(parsed),
        validate: () => ours.validateDomain(model),
      });
      const cold = coldStart(bundle);
      const measurements: Measurement[] = [
        { name: "read XML into the model", value: time("read"), unit: "ms" },
        {
          name: "fast-xml-parser's time over ours, reading",
          value: time("peerRead") / time("read"),
          unit: "ratio",
          budget: { atLeast: 5 },
        },
        { name: "write the model as XML", value: time("write"), unit: "ms" },
        {
          name: "fast-xml-parser's time over ours, writing",
          value: time("peerWrite") / time("write"),
          unit: "ratio",
          budget: { atLeast: 5 },
        },
        { name: "validate", value: time("validate"), unit: "ms", budget: { atMost: 1 } },
        { name: "bundle, minified", value: bundle.mebibytes, unit: "MiB" },
        { name: "fresh process: load the bundle", value: cold.loadMs, unit: "ms" },
        { name: "fresh process: first read, validate and write", value: cold.firstMs, unit: "ms" },
        { name: "fresh process: heap kept afterwards", value: cold.heapMiB, unit: "MiB", budget: { atMost: 4 } },
      ];
      for (const measurement of measurements) report(measurement);
    });
  },
};
