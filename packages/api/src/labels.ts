/**
 * Every name of ours that other parts, users and KubeVirt's own tools know: labels, annotations, finalizers, conditions,
 * device resources. One place, so that a name cannot be spelled in two ways.
 */

/** Labels on our own objects. */
export const labels = {
  /** Which role a pod plays: virt-api, virt-controller, virt-handler, virt-launcher, hotplug-disk. */
  role: "kubevirt.io",
  /** UID of the instance that a launcher pod belongs to. For lookups only: ownership is the owner reference. */
  createdBy: "kubevirt.io/created-by",
  nodeName: "kubevirt.io/nodeName",
  migrationTargetNodeName: "kubevirt.io/migrationTargetNodeName",
  migrationJobUid: "kubevirt.io/migrationJobUID",
  outdatedLauncherImage: "kubevirt.io/outdatedLauncherImage",
  virtualMachineName: "vm.kubevirt.io/name",
  virtualMachineInstanceId: "vmi.kubevirt.io/id",
  installStrategy: "kubevirt.io/install-strategy",
  managedBy: "app.kubernetes.io/managed-by",
  component: "app.kubernetes.io/component",
  version: "app.kubernetes.io/version",
  partOf: "app.kubernetes.io/part-of",
} as const;

/** Labels on nodes; some are prefixes that a model, feature or machine name follows. */
export const nodeLabels = {
  schedulable: "kubevirt.io/schedulable",
  cpuManager: "kubevirt.io/cpumanager",
  hypervisor: "kubevirt.io/hypervisor",
  realtime: "kubevirt.io/realtime",
  sev: "kubevirt.io/sev",
  sevEs: "kubevirt.io/sev-es",
  sevSnp: "kubevirt.io/sev-snp",
  tdx: "kubevirt.io/tdx",
  secureExecution: "kubevirt.io/s390-pv",
  ksmEnabled: "kubevirt.io/ksm-enabled",
  cpuModelPrefix: "cpu-model.node.kubevirt.io/",
  cpuModelMigrationPrefix: "cpu-model-migration.node.kubevirt.io/",
  cpuFeaturePrefix: "cpu-feature.node.kubevirt.io/",
  cpuVendorPrefix: "cpu-vendor.node.kubevirt.io/",
  hostModelCpuPrefix: "host-model-cpu.node.kubevirt.io/",
  hostModelRequiredFeaturesPrefix: "host-model-required-features.node.kubevirt.io/",
  machineTypePrefix: "machine-type.node.kubevirt.io/",
  hypervPrefix: "hyperv.node.kubevirt.io/",
  tscFrequency: "cpu-timer.node.kubevirt.io/tsc-frequency",
  tscScalable: "cpu-timer.node.kubevirt.io/tsc-scalable",
  tscFrequencyPrefix: "scheduling.node.kubevirt.io/tsc-frequency-",
  guestArchitecturePrefix: "kubevirt.io/vm-arch-",
  obsoleteHostModel: "node-labeller.kubevirt.io/obsolete-host-model",
} as const;

export const annotations = {
  /** UID of the KubeVirt object that virt-operator made this object for. */
  installedBy: "kubevirt.io/installed-by",
  domain: "kubevirt.io/domain",
  handlerPool: "kubevirt.io/handler-pool",
  heartbeat: "kubevirt.io/heartbeat",
  memoryOverheadBytes: "kubevirt.io/memory-overhead-bytes",
  migrationJobName: "kubevirt.io/migrationJobName",
  migrationTransportUnix: "kubevirt.io/migrationTransportUnix",
  createMigrationTarget: "kubevirt.io/create-migration-target",
  restoreRunStrategy: "kubevirt.io/restore-run-strategy",
  ephemeralProvisioning: "kubevirt.io/ephemeral-provisioning",
  latestObservedApiVersion: "kubevirt.io/latest-observed-api-version",
  storageObservedApiVersion: "kubevirt.io/storage-observed-api-version",
  virtualMachineGeneration: "kubevirt.io/vm-generation",
  pciTopologyVersion: "kubevirt.io/pci-topology-version",
  hookSidecars: "hooks.kubevirt.io/hookSidecars",
  defaultContainer: "kubectl.kubernetes.io/default-container",
  /** Followed by the name of an image volume: for which platform its image is wanted, `linux/arm64`. */
  imagePlatformPrefix: "polyvirt.io/image-platform.",
  /** On a node: leave its labels alone. */
  skipNodeLabeller: "node-labeller.kubevirt.io/skip-node",
} as const;

export const finalizers = {
  virtualMachineInstance: "kubevirt.io/foregroundDeleteVirtualMachine",
  virtualMachine: "kubevirt.io/virtualMachineControllerFinalize",
  migration: "kubevirt.io/migrationJobFinalize",
  operator: "kubevirt.io/virtOperatorFinalizer",
} as const;

/** Condition types of machines, instances and the installation. */
export const conditionTypes = {
  ready: "Ready",
  provisioning: "Provisioning",
  synchronized: "Synchronized",
  paused: "Paused",
  podScheduled: "PodScheduled",
  agentConnected: "AgentConnected",
  agentVersionNotSupported: "AgentVersionNotSupported",
  accessCredentialsSynchronized: "AccessCredentialsSynchronized",
  liveMigratable: "LiveMigratable",
  storageLiveMigratable: "StorageLiveMigratable",
  emulated: "Emulated",
  softwareEmulation: "SoftwareEmulation",
  migrationRequired: "MigrationRequired",
  evictionRequested: "EvictionRequested",
  failure: "Failure",
  restartRequired: "RestartRequired",
  available: "Available",
  progressing: "Progressing",
  degraded: "Degraded",
  created: "Created",
} as const;

/** Extended resources by which pods ask for devices: `devices.kubevirt.io/kvm`. */
export const deviceResourcePrefix = "devices.kubevirt.io/";

/** A launcher pod is ready for traffic only while its guest is not paused. */
export const unpausedReadinessGate = "kubevirt.io/virtual-machine-unpaused";

/** WebSocket subprotocol of console, VNC and port forwarding. */
export const streamSubprotocol = "plain.kubevirt.io";

/** Labels that users may not put on their instances, because we decide by them. */
export const reservedLabels: readonly string[] = [
  labels.createdBy,
  labels.migrationJobUid,
  labels.nodeName,
  labels.migrationTargetNodeName,
  nodeLabels.schedulable,
  labels.installStrategy,
];
