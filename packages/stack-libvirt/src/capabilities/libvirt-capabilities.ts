import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { readXml } from "@polyvirt/domain";
import { errors, type CapabilityProvider, type CapabilityTarget } from "@polyvirt/stack";
import { LibvirtDaemon, type DaemonDependencies } from "../daemon/libvirt-daemon.ts";
import { emulatorFor } from "../lifecycle/machine-definition.ts";
import type { LibvirtConnection } from "../rpc/libvirt-connection.ts";
import { procedures } from "../rpc/remote-program.ts";
import {
  hostModelCpu,
  readCpuModels,
  readFeatures,
  readHostModel,
  readHypervFeatures,
  readMachineTypes,
  readSev,
  readTsc,
} from "./capability-documents.ts";

/** libvirt's names for the architectures of Kubernetes. */
const architectures: Readonly<Record<string, string>> = { amd64: "x86_64", arm64: "aarch64", s390x: "s390x" };

const questionTimeoutMs = 60_000;
const expandFeatures = 1;

interface Answers {
  readonly host: string;
  readonly domain: string;
  readonly features: readonly string[];
}

/**
 * The seven capability functions, answered by libvirt. The questions go to a daemon of their own, which finds exactly the
 * one emulator that they are about: the launcher's daemon finds none, so that it need not look at any when it starts.
 */
export function libvirtCapabilities(dependencies: DaemonDependencies, target: CapabilityTarget): CapabilityProvider {
  let asked: Promise<Answers> | undefined;
  const answers = (): Promise<Answers> => (asked ??= ask(dependencies, target));
  const emulated = target.virtType === "qemu";
  return {
    // Without a hypervisor libvirt lists settings of the emulator that no guest can make use of.
    getHypervFeatures: async () => (emulated ? [] : readHypervFeatures((await answers()).domain)),
    getSupportedMachineTypes: async () => readMachineTypes((await answers()).host, architectureOf(target)),
    getSupportedCpuModels: async () => readCpuModels((await answers()).domain, emulated),
    getHostCpuModelInfo: async () => (emulated ? undefined : readHostModel((await answers()).domain)),
    getSupportedCpuFeatures: async () => (await answers()).features,
    // An emulated guest has the emulator's clock.
    getNodeTscInfo: async () => (emulated ? undefined : readTsc((await answers()).host)),
    getNodeSevFeatures: async () => (emulated ? { supported: false } : readSev((await answers()).domain)),
  };
}

async function ask(dependencies: DaemonDependencies, target: CapabilityTarget): Promise<Answers> {
  const emulator = emulatorFor(architectureOf(target));
  if (!existsSync(emulator)) {
    throw errors.StackNotSupported(`ask for capabilities of ${target.architecture}: ${emulator} is not installed`);
  }
  const directory = `${dependencies.directory}c`;
  const hidden = await deviceToHide(dependencies, target);
  const daemon = new LibvirtDaemon(
    { ...dependencies, directory, programs: [emulator], ...(hidden && { hiddenDevice: hidden }) },
    { events: [], monitorEvents: [], onEvent: () => {}, onReconnect: async () => {} },
  );
  try {
    const connection = await daemon.connection();
    const found = join(daemon.layout.programs, emulator.slice("/usr/bin/".length));
    const answers = await askAll(connection, found, target);
    // Machines name the emulator by its own path, and libvirt remembers what it knows by path.
    if (dependencies.sharedCache?.writable === true) {
      await askDomain(connection, emulator, target);
      await daemon.shareKnowledge();
    }
    return answers;
  } finally {
    await daemon.close();
  }
}

/** What libvirt looks at to find out whether guests can be accelerated, on every architecture. */
const accelerationDevice = "/dev/kvm";

/**
 * libvirt believes what another daemon has found out about an emulator only if both can, or both cannot, open the device.
 * Where guests are emulated their launchers are not given it, so what is kept for them is asked without it, too.
 */
async function deviceToHide(
  { sharedCache }: DaemonDependencies,
  { virtType }: CapabilityTarget,
): Promise<string | undefined> {
  if (sharedCache?.writable !== true || virtType !== "qemu") return undefined;
  return access(accelerationDevice, constants.R_OK | constants.W_OK).then(
    () => accelerationDevice,
    () => undefined,
  );
}

function about(emulator: string, target: CapabilityTarget) {
  return { emulator, architecture: architectureOf(target), machine: undefined, virtType: target.virtType };
}

function optionsFor({ architecture }: CapabilityTarget) {
  return { operation: `ask libvirt for capabilities of ${architecture}`, timeoutMs: questionTimeoutMs };
}

async function askDomain(connection: LibvirtConnection, emulator: string, target: CapabilityTarget): Promise<string> {
  const request = { ...about(emulator, target), flags: 0 };
  return (await connection.call(procedures.connectGetDomainCapabilities, request, optionsFor(target))).xml;
}

async function askAll(connection: LibvirtConnection, emulator: string, target: CapabilityTarget): Promise<Answers> {
  const { xml: host } = await connection.call(procedures.connectGetCapabilities, undefined, optionsFor(target));
  const domain = await askDomain(connection, emulator, target);
  refuseNonsense([host, domain], target);
  const cpu = hostModelCpu(domain, architectureOf(target));
  if (cpu === undefined) return { host, domain, features: [] };
  const request = { ...about(emulator, target), cpus: [cpu], flags: expandFeatures };
  const expanded = await connection
    .call(procedures.connectBaselineHypervisorCpu, request, optionsFor(target))
    // Not for every architecture.
    .catch(() => undefined);
  return { host, domain, features: expanded === undefined ? [] : readFeatures(expanded.cpu, domain) };
}

/** What is no XML is noticed here, where it can be said whose words they are. */
function refuseNonsense(documents: readonly string[], target: CapabilityTarget): void {
  try {
    for (const text of documents) readXml(text);
  } catch (cause) {
    throw errors.StackCommandFailed(`${optionsFor(target).operation}: its answer cannot be read`, { cause });
  }
}

function architectureOf({ architecture }: CapabilityTarget): string {
  return architectures[architecture] ?? architecture;
}
