/**
 * Ring 4: what a virtualization stack is. The contract that a launcher drives, the closed set of errors, the export of
 * capabilities, and a fake stack for tests and for machines without a VMM. The conformance suite is a module of its own,
 * `@polyvirt/stack/conformance`. Must not know any particular VMM, nor Kubernetes. Start with `contract.ts`.
 */
export { errorKinds, errors } from "./errors.ts";
export {
  hasEnded,
  optionalParts,
  type BlockStats,
  type Console,
  type DomainEvent,
  type DomainEventListener,
  type DomainStats,
  type DomainStatus,
  type Graphics,
  type InterfaceStats,
  type Lifecycle,
  type MemoryStats,
  type OptionalPart,
  type RunningDomain,
  type Screenshot,
  type Stack,
  type StartOptions,
  type Stats,
  type VcpuStats,
} from "./contract.ts";
export type {
  CapabilityProvider,
  CapabilityTarget,
  CpuModel,
  HostCpuModel,
  MachineType,
  NodeSevFeatures,
  NodeTscInfo,
} from "./capability-provider.ts";
export { collectCapabilities, exportCapabilities } from "./export-capabilities.ts";
export type {
  GuestAgent,
  GuestAgentCondition,
  GuestExecResult,
  GuestFilesystem,
  GuestInfo,
  GuestInterface,
  GuestOs,
  GuestUser,
} from "./guest-agent.ts";
export type { Hotplug } from "./hotplug.ts";
export type { Migration, MigrationOptions, MigrationProgress, PostCopySupport, ReceiveOptions } from "./migration.ts";
export { probeQemuPostCopy } from "./qemu-post-copy.ts";
export { QemuAgent, qemuAgentChannelName, type QemuAgentChannel } from "./qemu-agent/qemu-agent.ts";
export { serialConsole, vncSocketOf } from "./serial-console.ts";
export { implementedParts, requirePart } from "./require-part.ts";
export { createFakeStack, type FakeStack } from "./fake/fake-stack.ts";
