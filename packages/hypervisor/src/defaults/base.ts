/** The steps that every hypervisor shares, as tables. `defineHypervisor` adds a hypervisor's own steps to them. */
import { architectureProfiles } from "../arch/index.ts";
import { cpuModelDefault, setCpuTopology, setFallbackCpuModel } from "./cpu.ts";
import { setInputDevices, setWatchdogAction } from "./devices.ts";
import { diskBusDefault, setContainerDiskPullPolicy, setDisksForVolumes, setDiskTargets } from "./disk.ts";
import { disableAcpi, setFeatureStates, setHypervDependencies } from "./features.ts";
import { setEfiBootloader, setFirmwareUuid } from "./firmware.ts";
import { setMaxGuestMemory, setMaxSockets } from "./hotplug.ts";
import { setArchitecture, setEvictionStrategy, setMachineType, setPciTopologyVersion } from "./machine.ts";
import { setPodNetwork } from "./network.ts";
import { setProbes } from "./probes.ts";
import { setCpuRequest, setGuestMemory } from "./resources.ts";
import { setCpuTopologyStatus, setMemoryStatus } from "./status.ts";
import type { DefaultsLayers, DefaultsStep } from "./step.ts";
import { setFirmwareIdentity, setMatcherKinds, templateStep } from "./virtual-machine.ts";

const { amd64, arm64, s390x } = architectureProfiles;

const architecture: DefaultsStep = { name: "architecture", set: setArchitecture };
const machineType: DefaultsStep = { name: "machine-type", set: setMachineType };
const pciTopologyVersion: DefaultsStep = { name: "pci-topology-version", set: setPciTopologyVersion };

export const baseDefaults: DefaultsLayers = {
  base: [
    architecture,
    { name: "cpu-request", set: setCpuRequest },
    { name: "guest-memory", set: setGuestMemory },
    { name: "cpu-topology", set: setCpuTopology },
    { name: "container-disk-pull-policy", set: setContainerDiskPullPolicy },
    { name: "eviction-strategy", set: setEvictionStrategy },
    { name: "pod-network", set: setPodNetwork },
    { name: "disks-for-volumes", set: setDisksForVolumes },
    { name: "firmware-uuid", set: setFirmwareUuid },
    { name: "disk-targets", set: setDiskTargets },
    { name: "input-devices", set: setInputDevices },
    { name: "probes", set: setProbes },
  ],
  hypervisor: [],
  architecture: {
    amd64: [
      machineType,
      { name: "disk-bus", set: diskBusDefault(amd64.buses) },
      { name: "watchdog-action", set: setWatchdogAction("i6300esb") },
    ],
    arm64: [
      machineType,
      { name: "cpu-model", set: cpuModelDefault("host-passthrough") },
      { name: "efi-bootloader", set: setEfiBootloader },
      { name: "disk-bus", set: diskBusDefault(arm64.buses) },
    ],
    s390x: [
      machineType,
      { name: "no-acpi", set: disableAcpi },
      { name: "disk-bus", set: diskBusDefault(s390x.buses) },
      { name: "watchdog-action", set: setWatchdogAction("diag288") },
    ],
  },
  pair: {},
  finalization: [
    { name: "feature-states", set: setFeatureStates },
    { name: "hyperv-dependencies", set: setHypervDependencies },
    { name: "cpu-model", set: setFallbackCpuModel },
    { name: "memory-status", set: setMemoryStatus },
    { name: "cpu-topology-status", set: setCpuTopologyStatus },
    { name: "max-sockets", set: setMaxSockets },
    { name: "max-guest-memory", set: setMaxGuestMemory },
    pciTopologyVersion,
  ],
  machine: [
    { name: "matcher-kinds", set: setMatcherKinds },
    templateStep(architecture),
    templateStep(machineType),
    { name: "firmware-identity", set: setFirmwareIdentity },
    templateStep(pciTopologyVersion),
  ],
};
