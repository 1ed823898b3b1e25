import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { PersistentVolumeClaim, Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { registry } from "@polyvirt/hypervisor";
import { placementOn, podContext, VMI_UID, vmiWith } from "../testing/objects.ts";
import { launcherPodName } from "./name.ts";
import { renderLauncherPod } from "./render.ts";
import { claimNames } from "./volumes.ts";

function render(spec: Partial<VirtualMachineInstanceSpec> = {}, context = podContext()): Pod {
  const vmi = vmiWith();
  return renderLauncherPod({ ...vmi, spec: { ...vmi.spec, ...spec } }, context);
}

const compute = (pod: Pod) => pod.spec.containers[0];
const domain = vmiWith().spec.domain;

describe("renderLauncherPod", () => {
  it("belongs to its VMI and says so", () => {
    const vmi = vmiWith(
      {},
      { labels: { app: "x" }, annotations: { note: "y", "kubectl.kubernetes.io/last-applied": "z" } },
    );
    const pod = renderLauncherPod(vmi, podContext());
    expect(pod.metadata.ownerReferences).toEqual([
      {
        apiVersion: "kubevirt.io/v1",
        kind: "VirtualMachineInstance",
        name: "hello",
        uid: VMI_UID,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(pod.metadata.labels).toMatchObject({
      app: "x",
      "kubevirt.io": "virt-launcher",
      "kubevirt.io/created-by": VMI_UID,
      "vmi.kubevirt.io/id": "hello",
    });
    expect(pod.metadata.annotations).toMatchObject({ note: "y", "kubevirt.io/domain": "hello" });
    expect(pod.metadata.annotations).not.toHaveProperty("kubectl.kubernetes.io/last-applied");
  });

  it("starts the launcher with the VMI's identity", () => {
    expect(compute(render())?.args?.join(" ")).toBe(
      `--name hello --namespace default --uid ${VMI_UID} --hypervisor kvm ` +
        "--grace-period-seconds 45 --qemu-timeout 240s --allow-emulation",
    );
    expect(compute(render({}, podContext({})))?.args).not.toContain("--allow-emulation");
    const withModules = { ...podContext({}), hypervisorModules: ["/opt/own.js", "other-hypervisor"] };
    expect(compute(render({}, withModules))?.args?.join(" ")).toContain(
      "--hypervisor kvm --hypervisor-module /opt/own.js --hypervisor-module other-hypervisor ",
    );
  });

  it("gives the guest its grace period and the launcher time to report", () => {
    expect(render().spec.terminationGracePeriodSeconds).toBe(60);
    expect(render({ terminationGracePeriodSeconds: 0 }).spec.terminationGracePeriodSeconds).toBe(30);
  });

  it("mounts each kind of state that outlives the pod from its own folder of the claim", () => {
    const spec = {
      domain: {
        ...domain,
        devices: { tpm: { persistent: true } },
        firmware: { bootloader: { efi: { persistent: true } } },
      },
    };
    const pod = render(spec, { ...podContext(), stateClaim: "persistent-state-for-hello-abcde" });
    expect(pod.spec.volumes).toContainEqual({
      name: "vm-state",
      persistentVolumeClaim: { claimName: "persistent-state-for-hello-abcde" },
    });
    expect(compute(pod)?.volumeMounts).toEqual(
      expect.arrayContaining([
        { name: "vm-state", mountPath: "/var/run/kubevirt-private/vm-state/swtpm", subPath: "swtpm" },
        { name: "vm-state", mountPath: "/var/run/kubevirt-private/vm-state/nvram", subPath: "nvram" },
      ]),
    );
    expect(render().spec.volumes?.some(({ name }) => name === "vm-state")).toBe(false);
  });

  it("shares folders by a daemon for each, which runs beside the launcher", () => {
    const pod = render({
      domain: { ...domain, devices: { filesystems: ["settings", "account"].map((name) => ({ name, virtiofs: {} })) } },
      volumes: [
        { name: "settings", configMap: { name: "c" } },
        { name: "account", serviceAccount: { serviceAccountName: "s" } },
      ],
    });
    const sockets = "/var/run/kubevirt/virtiofs-containers";
    expect(pod.spec.initContainers).toMatchObject([
      {
        name: "virtiofs-settings",
        restartPolicy: "Always",
        args: [`${sockets}/settings.sock`, "/var/run/kubevirt-private/config-map/settings"],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      },
      { name: "virtiofs-account", args: [`${sockets}/account.sock`, "/var/run/secrets/kubernetes.io/serviceaccount"] },
    ]);
    expect(pod.spec.initContainers?.[0]?.volumeMounts).toEqual([
      { name: "settings", mountPath: "/var/run/kubevirt-private/config-map/settings", readOnly: true },
      { name: "virtiofs-containers", mountPath: sockets },
      { name: "virtiofs-containers", mountPath: "/var/run/virtiofsd" },
    ]);
    expect(compute(pod)?.volumeMounts).toContainEqual({ name: "virtiofs-containers", mountPath: sockets });
    expect(render().spec).not.toHaveProperty("initContainers");
  });

  it("shares no claim that is a device", () => {
    const claim: PersistentVolumeClaim = { metadata: { name: "c" }, spec: { volumeMode: "Block" } };
    const spec = {
      domain: { ...domain, devices: { filesystems: [{ name: "data", virtiofs: {} }] } },
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "c" } }],
    };
    expect(() => render(spec, { ...podContext(), claims: new Map([["c", claim]]) })).toThrow(
      'share volume "data" with the guest of default/hello: it has no files',
    );
  });

  it("mounts container disks and the kernel image read-only as image volumes", () => {
    const pod = render({
      volumes: [{ name: "root", containerDisk: { image: "disk:1", imagePullPolicy: "Never" } }],
      domain: { ...domain, firmware: { kernelBoot: { container: { image: "kernel:1", kernelPath: "/k" } } } },
    });
    expect(pod.spec.volumes).toEqual(
      expect.arrayContaining([
        { name: "containerdisk-root", image: { reference: "disk:1", pullPolicy: "Never" } },
        { name: "kernel-boot", image: { reference: "kernel:1" } },
        { name: "sockets", emptyDir: {} },
      ]),
    );
    expect(compute(pod)?.volumeMounts).toEqual(
      expect.arrayContaining([
        { name: "containerdisk-root", mountPath: "/var/run/kubevirt/container-disks/root", readOnly: true },
        { name: "kernel-boot", mountPath: "/var/run/kubevirt/container-disks/kernel-boot", readOnly: true },
        { name: "sockets", mountPath: "/var/run/kubevirt/sockets" },
        { name: "private", mountPath: "/var/run/kubevirt-private" },
      ]),
    );
  });

  it("passes block claims as devices and other claims as folders", () => {
    const volumes = [
      { name: "raw", persistentVolumeClaim: { claimName: "block" } },
      { name: "files", persistentVolumeClaim: { claimName: "fs" } },
    ];
    const claims = new Map([["block", { metadata: {}, spec: { volumeMode: "Block" as const } }]]);
    const pod = render({ volumes }, { ...podContext(), claims });
    expect(compute(pod)?.volumeDevices).toEqual([{ name: "raw", devicePath: "/dev/raw" }]);
    expect(compute(pod)?.volumeMounts).toContainEqual({
      name: "files",
      mountPath: "/var/run/kubevirt-private/vmi-disks/files",
    });
    expect(claimNames({ ...vmiWith(), spec: { domain, volumes } })).toEqual(["block", "fs"]);
  });

  it("refuses a kind of volume that it does not know, by name", () => {
    const volumes = [{ name: "old", memoryDump: { claimName: "s" } }];
    expect(() => render({ volumes })).toThrow(/volume "old" is of kind "memoryDump"/);
  });

  it("asks for guest memory with the overhead on top, and a tenth of a CPU", () => {
    const pod = render();
    const overhead = Number(pod.metadata.annotations?.["kubevirt.io/memory-overhead-bytes"]);
    expect(overhead).toBeGreaterThan(64 * 2 ** 20);
    const { requests, limits } = compute(pod)?.resources ?? {};
    expect(requests?.cpu).toBe("100m");
    expect(requests?.memory).toMatch(/^\d+(Ki|Mi)?$/);
    expect(limits).toEqual({});
  });

  it("reserves what our own stack takes, more for a guest that may be emulated, and KubeVirt's sum for others", () => {
    const overhead = (context: ReturnType<typeof podContext>) => {
      const pod = render({ domain: { ...domain, memory: { guest: "1Gi" } } }, context);
      return Math.ceil(Number(pod.metadata.annotations?.["kubevirt.io/memory-overhead-bytes"]) / 2 ** 20);
    };
    expect(overhead(podContext({}))).toBeLessThanOrEqual(128);
    expect(overhead(podContext())).toBe(overhead(podContext({})) + 128);
    expect(overhead({ ...podContext(), placement: placementOn(["amd64"]) })).toBe(overhead(podContext({})));
    const foreign = podContext({
      developerConfiguration: { featureGates: ["PluginVirtualizationStacks"] },
      virtualizationProfile: { virtLauncher: { virtLauncherImage: "example.org/other:1" } },
    });
    expect(overhead(foreign)).toBeGreaterThan(240);
  });

  it.each([
    ["requests", { requests: { memory: "1Gi", cpu: "2" } }, { cpu: "2" }],
    ["limits", { limits: { cpu: 3, memory: "1Gi" } }, { cpu: "3" }],
  ])("respects the VMI's own %s", (_name, resources, requests) => {
    expect(compute(render({ domain: { ...domain, resources } }))?.resources?.requests).toMatchObject(requests);
  });

  it("counts huge pages as a resource of their own", () => {
    const memory = { guest: "128Mi", hugepages: { pageSize: "2Mi" } };
    const { requests, limits } = compute(render({ domain: { ...domain, memory } }))?.resources ?? {};
    expect(requests?.["hugepages-2Mi"]).toBe("128Mi");
    expect(limits).toMatchObject({ "hugepages-2Mi": "128Mi", memory: requests?.memory });
  });

  it("asks for optional devices only where no node is lost by it, and for needed ones always", () => {
    const asked = (context: ReturnType<typeof podContext>) => compute(render({}, context))?.resources?.limits;
    expect(asked(podContext())).not.toHaveProperty(["devices.kubevirt.io/kvm"]);
    const offering = { ...podContext(), placement: placementOn(["amd64"]) };
    expect(asked(offering)).toHaveProperty(["devices.kubevirt.io/kvm"], "1");
    expect(asked(podContext({}))).toHaveProperty(["devices.kubevirt.io/kvm"], "1");
  });

  it("goes to nodes that can run it", () => {
    const cpu = { cores: 1, model: "Haswell", features: [{ name: "vmx" }, { name: "pcid", policy: "forbid" }] };
    const pod = render({ nodeSelector: { zone: "a" }, domain: { ...domain, cpu } }, podContext({}));
    expect(pod.spec.nodeSelector).toEqual({
      "kubevirt.io/schedulable": "true",
      "kubernetes.io/arch": "amd64",
      "cpu-model.node.kubevirt.io/Haswell": "true",
      "cpu-feature.node.kubevirt.io/vmx": "true",
      zone: "a",
    });
    expect(pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      { matchExpressions: [{ key: "cpu-feature.node.kubevirt.io/pcid", operator: "DoesNotExist" }] },
    ]);
  });

  it("goes to nodes of other architectures when they may emulate it, but rather to its own", () => {
    const developerConfiguration = { useEmulation: true, featureGates: ["MultiArchitectureSoftwareEmulation"] };
    const placement = placementOn(["amd64", "s390x"], "emulated");
    const context = { ...podContext({ developerConfiguration }), placement };
    const volumes = [
      { name: "root", containerDisk: { image: "disk:1" } },
      { name: "x".repeat(40), containerDisk: { image: "disk:2" } },
    ];
    const pod = render({ architecture: "s390x", volumes }, context);
    expect(pod.spec.nodeSelector).toEqual({ "kubevirt.io/schedulable": "true", "kubevirt.io/vm-arch-s390x": "true" });
    expect(pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution).toEqual([
      {
        weight: 100,
        preference: { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["s390x"] }] },
      },
    ]);
    expect(compute(pod)?.args).toContain("--allow-cross-architecture");
    expect(compute(pod)?.resources?.limits).not.toHaveProperty(["devices.kubevirt.io/kvm"]);
    expect(pod.metadata.annotations).toMatchObject({ "polyvirt.io/image-platform.containerdisk-root": "linux/s390x" });
    for (const key of Object.keys(pod.metadata.annotations ?? {}))
      expect(key.split("/").at(-1)?.length).toBeLessThan(64);
  });

  it("uses the node's hypervisor where the guest is at home everywhere, though it might be emulated", () => {
    const developerConfiguration = { useEmulation: true, featureGates: ["MultiArchitectureSoftwareEmulation"] };
    const context = { ...podContext({ developerConfiguration }), placement: placementOn(["amd64"], "emulated") };
    expect(compute(render({}, context))?.resources?.limits).toHaveProperty(["devices.kubevirt.io/kvm"], "1");
  });

  it("takes launcher, rights, memory and device from the virtualization profile, if its gate is on", () => {
    const virtualizationProfile = {
      virtualizationComponents: { hypervisorDevice: "/dev/accel" },
      virtLauncher: {
        virtLauncherImage: "example.org/launcher:2",
        virtLauncherCapabilities: ["SYS_PTRACE"],
        virtLauncherOverhead: "300Mi",
      },
    };
    const gates = { developerConfiguration: { featureGates: ["PluginVirtualizationStacks"] } };
    const profiled = podContext({ virtualizationProfile, ...gates });
    const pod = render({}, { ...profiled, hypervisor: registry.select(profiled.config.hypervisor) });
    expect(compute(pod)).toMatchObject({
      image: "example.org/launcher:2",
      securityContext: { capabilities: { add: ["SYS_PTRACE"], drop: ["ALL"] } },
      resources: { limits: { "devices.kubevirt.io/accel": "1" } },
      args: expect.arrayContaining(["--hypervisor-device", "accel"]) as string[],
    });
    const plain = render({}, podContext({ virtualizationProfile }));
    const overhead = (given: Pod) => Number(given.metadata.annotations?.["kubevirt.io/memory-overhead-bytes"]);
    expect(overhead(pod)).toBeGreaterThan(300 * 2 ** 20);
    expect(overhead(plain)).toBeLessThan(300 * 2 ** 20);
    expect(compute(plain)).toMatchObject({
      image: "polyvirt.local/virt-launcher-qemu:0.1.0",
      securityContext: { capabilities: { add: ["NET_BIND_SERVICE"] } },
      resources: { limits: { "devices.kubevirt.io/kvm": "1" } },
    });
  });

  it("reserves less for launchers of its own than for one that it knows nothing of", () => {
    const overhead = (virtLauncherImage: string): number => {
      const gates = { developerConfiguration: { featureGates: ["PluginVirtualizationStacks"] } };
      const profile = { virtualizationProfile: { virtLauncher: { virtLauncherImage } } };
      const { metadata } = render({}, podContext({ ...profile, ...gates }));
      return Number(metadata.annotations?.["kubevirt.io/memory-overhead-bytes"]) / 2 ** 20;
    };
    const qemu = overhead("polyvirt.local/virt-launcher-qemu:0.1.0");
    expect(overhead("polyvirt.local/virt-launcher-libvirt@sha256:1")).toBe(qemu + 48);
    expect(overhead("example.org/virt-launcher-libvirt:0.1.0")).toBe(qemu + 176);
  });

  it("asks for what only some nodes have: a versioned machine, encryption, Hyper-V in the kernel", () => {
    const needy = {
      ...domain,
      machine: { type: "pc-q35-7.2" },
      launchSecurity: { sev: {} },
      features: { hyperv: { vpindex: {}, relaxed: {}, evmcs: {}, ipi: { enabled: false } } },
    };
    const gates = { developerConfiguration: { featureGates: ["HypervStrictCheck"] } };
    expect(render({ domain: needy }, podContext(gates)).spec.nodeSelector).toEqual({
      "kubevirt.io/schedulable": "true",
      "kubernetes.io/arch": "amd64",
      "kubevirt.io/sev": "true",
      "machine-type.node.kubevirt.io/pc-q35-7.2": "true",
      "hyperv.node.kubevirt.io/vpindex": "true",
      "cpu-vendor.node.kubevirt.io/Intel": "true",
    });
  });

  it("stays with its own architecture where nothing else is allowed", () => {
    const pod = render({ architecture: "arm64", volumes: [{ name: "root", containerDisk: { image: "disk:1" } }] });
    expect(pod.spec.nodeSelector).toMatchObject({ "kubernetes.io/arch": "arm64" });
    expect(compute(pod)?.args).not.toContain("--allow-cross-architecture");
    expect(Object.keys(pod.metadata.annotations ?? {}).join()).not.toContain("image-platform");
  });

  it("lets the kubelet ask the guest whether it works", () => {
    const readinessProbe = { tcpSocket: { port: 22 }, initialDelaySeconds: 5, periodSeconds: 3 };
    const livenessProbe = { httpGet: { port: 80, path: "/" } };
    expect(compute(render({ readinessProbe, livenessProbe }))).toMatchObject({ readinessProbe, livenessProbe });
  });

  it("never runs as root because nobody said as whom", () => {
    expect(render().spec.securityContext?.runAsUser).toBe(107);
    const root = podContext({ developerConfiguration: { featureGates: ["Root"] } });
    expect(render({}, root).spec.securityContext).toEqual({ runAsUser: 0 });
  });

  it("runs as the user that the VMI's status names", () => {
    const vmi = vmiWith({ runtimeUser: 107 });
    const pod = renderLauncherPod(vmi, podContext());
    expect(pod.spec.securityContext).toEqual({ runAsUser: 107, runAsGroup: 107, runAsNonRoot: true, fsGroup: 107 });
    expect(compute(pod)?.securityContext?.capabilities).toEqual({ add: ["NET_BIND_SERVICE"], drop: ["ALL"] });
  });

  it("gives the launcher no token of the API unless the guest is to have one", () => {
    expect(render().spec.automountServiceAccountToken).toBe(false);
    const pod = render({ volumes: [{ name: "sa", serviceAccount: { serviceAccountName: "bot" } }] });
    expect(pod.spec).toMatchObject({ automountServiceAccountToken: true, serviceAccountName: "bot" });
  });
});

describe("launcherPodName", () => {
  it("follows from the UID and stays within the limit", () => {
    const named = (name: string, uid = VMI_UID) => launcherPodName(vmiWith({}, { name, uid }));
    expect(named("hello")).toMatch(/^virt-launcher-hello-[a-z0-9]{5}$/);
    expect(named("hello")).toBe(named("hello"));
    expect(named("hello", "other")).not.toBe(named("hello"));
    expect(named("a".repeat(200))).toHaveLength(63);
    expect(named(`${"a".repeat(42)}.-x`)).toMatch(/a-[a-z0-9]{5}$/);
  });
});
