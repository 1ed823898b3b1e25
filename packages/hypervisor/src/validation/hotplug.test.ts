import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { clusterConfig, instance } from "../testing/fixtures.ts";
import { disks, type Domain, type Spec } from "../testing/validation.ts";

describe("validateHotplug", () => {
  const base = instance({ cpu: { sockets: 1, maxSockets: 4 }, memory: { guest: "1Gi", maxGuest: "4Gi" } });
  const messages = (domain: Domain, spec: Spec = {}): (string | undefined)[] => {
    const after = { ...base, spec: { ...base.spec, ...spec, domain: { ...base.spec.domain, ...domain } } };
    return registry
      .get("kvm")
      .validator.validateHotplug(base, after, clusterConfig())
      .map(({ message }) => message);
  };
  const data = { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } };

  it("allows more sockets and memory, and hotpluggable volumes", () => {
    expect(messages({ cpu: { sockets: 2, maxSockets: 4 }, memory: { guest: "2Gi", maxGuest: "4Gi" } })).toEqual([]);
    expect(messages(disks({ name: "data", disk: { bus: "scsi" } }), { volumes: [data] })).toEqual([]);
  });

  it.each([
    {
      domain: { cpu: { sockets: 5, maxSockets: 4 } },
      message: "Number of sockets in CPU topology is greater than the maximum sockets allowed",
    },
    {
      domain: { cpu: { sockets: 1, cores: 2, maxSockets: 4 } },
      message: "only the number of sockets can change while the guest runs",
    },
    {
      domain: { memory: { guest: "512Mi", maxGuest: "4Gi" } },
      message: "spec.domain.memory.guest '512Mi' is less than the memory that the guest was started with",
    },
    {
      domain: { memory: { guest: "8Gi", maxGuest: "4Gi" } },
      message: "spec.domain.memory.guest '8Gi' is greater than spec.domain.memory.maxGuest '4Gi'",
    },
  ])("refuses: $message", ({ domain, message }) => {
    expect(messages(domain)).toContain(message);
  });

  it("refuses volumes for a guest that wants none, and a volume that turns into another", () => {
    const scsi = disks({ name: "data", disk: { bus: "scsi" } });
    const none = { ...scsi, devices: { ...scsi.devices, disableHotplug: true } };
    expect(messages(none, { volumes: [data] })).toContain(
      "volume data cannot be added: spec.domain.devices.disableHotplug is set",
    );
    const before = { ...base, spec: { ...base.spec, volumes: [data], domain: { ...base.spec.domain, ...scsi } } };
    const other = { name: "data", persistentVolumeClaim: { claimName: "other", hotpluggable: true } };
    const after = { ...before, spec: { ...before.spec, volumes: [other] } };
    const causes = registry.get("kvm").validator.validateHotplug(before, after, clusterConfig());
    expect(causes.map(({ message }) => message)).toEqual(["hotplug volume data changed"]);
  });

  it("refuses a name whose disk the guest has not let go", () => {
    const before = { ...base, status: { volumeStatus: [{ name: "data", target: "sda", phase: "Detaching" }] } };
    const domain = { ...base.spec.domain, ...disks({ name: "data", disk: { bus: "scsi" } }) };
    const after = { ...before, spec: { ...base.spec, domain, volumes: [data] } };
    const causes = registry.get("kvm").validator.validateHotplug(before, after, clusterConfig());
    expect(causes.map(({ message }) => message)).toEqual([
      "volume data is still being detached; try again when it is gone",
    ]);
  });

  it("lets interfaces change their state, and nothing else", () => {
    const nic = { name: "default", bridge: {} };
    const networks = [{ name: "default", pod: {} }];
    const withCards = (
      interfaces: NonNullable<Domain["devices"]>["interfaces"],
      given: Spec["networks"] = networks,
    ) => ({
      ...base,
      spec: {
        ...base.spec,
        networks: given ?? [],
        domain: { ...base.spec.domain, devices: { interfaces: interfaces ?? [] } },
      },
    });
    const changed = (after: ReturnType<typeof withCards>) =>
      registry
        .get("kvm")
        .validator.validateHotplug(withCards([nic]), after, clusterConfig())
        .map(({ message }) => message);
    expect(changed(withCards([{ ...nic, state: "absent" }]))).toEqual([]);
    expect(changed(withCards([{ ...nic, state: "down" }]))).toEqual([]);
    expect(changed(withCards([{ ...nic, model: "e1000" }]))).toEqual([
      "interface default changed: only its state can change while the guest runs",
    ]);
    expect(changed(withCards([]))).toContain("interface default was removed: set its state to absent instead");
    const more = withCards([nic, { name: "blue", bridge: {} }], [...networks, { name: "blue", pod: {} }]);
    expect(changed(more)).toEqual(
      expect.arrayContaining([
        "interface blue cannot be added while the guest runs: it needs a network beside the pod's",
        "networks cannot change while the guest runs",
      ]),
    );
  });

  it("refuses a hotplugged disk on a bus without hotplug", () => {
    expect(messages(disks({ name: "data", disk: { bus: "sata" } }), { volumes: [data] })).toContain(
      "hotplugged disk data requires bus to be 'scsi' or 'virtio'. [sata] is not permitted",
    );
  });
});
