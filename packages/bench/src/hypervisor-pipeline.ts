/** What admission and launcher do with one VMI, one after the other, as functions to be measured. */
import type { VirtualMachineInstance } from "@polyvirt/api";
import { writeDomain } from "@polyvirt/domain";
import { planningContext, registry, resolveClusterConfig } from "@polyvirt/hypervisor";

const vmi: VirtualMachineInstance = {
  metadata: { name: "web", namespace: "default", uid: "11111111-2222-3333-4444-555555555555" },
  spec: {
    domain: {
      cpu: { sockets: 2, cores: 2 },
      memory: { guest: "4Gi" },
      features: { acpi: {}, hyperv: { relaxed: {}, vapic: {}, spinlocks: {} } },
      devices: {
        disks: ["root", "data", "logs"].map((name) => ({ name, disk: { bus: "virtio" } })),
        interfaces: [{ name: "default", masquerade: {}, ports: [{ port: 80 }] }],
        rng: {},
      },
    },
    networks: [{ name: "default", pod: {} }],
    volumes: [
      { name: "root", containerDisk: { image: "registry.example/web:1" } },
      { name: "data", persistentVolumeClaim: { claimName: "data" } },
      { name: "logs", emptyDisk: { capacity: "2Gi" } },
      { name: "init", cloudInitNoCloud: { userData: "#cloud-config\n" } },
    ],
  },
};

/** The VMI as a launcher receives it. */
export const vmiText = JSON.stringify(vmi);

const config = resolveClusterConfig(undefined, { hostArchitecture: "amd64" });
const { converter, defaults, validator } = registry.get("kvm");
const randomUuid = (): string => "5d307ca9-b3ef-428c-8861-06e72d69f223";
const complete = defaults.applyToInstance(vmi, { config, randomUuid });
const context = planningContext(complete, { config });
const domain = converter.convert(complete, context);

export const pipeline = {
  defaults: () => defaults.applyToInstance(vmi, { config, randomUuid }),
  validate: () => validator.validateVirtualMachineInstanceSpec("spec", complete.spec, config),
  convert: () => converter.convert(complete, context),
  write: () => writeDomain(domain),
  /** All of it: the VMI's JSON in, XML out. */
  whole(): string {
    // It is the text of the object above.
    const received = JSON.parse(vmiText) as VirtualMachineInstance;
    const full = defaults.applyToInstance(received, { config, randomUuid });
    const causes = validator.validateVirtualMachineInstanceSpec("spec", full.spec, config);
    if (causes.length > 0) throw new Error(`the VMI of this benchmark is invalid: ${causes[0]?.message}`);
    return writeDomain(converter.convert(full, context));
  },
};
