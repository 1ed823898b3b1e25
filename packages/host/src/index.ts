/**
 * Ring 3: everything that touches the machine. Processes and their identity, containers (namespaces, mounts, log files),
 * safe paths, peer credentials, facts. Every privileged act of the project is here and carries a SAFETY comment. Knows
 * neither VMs nor Kubernetes objects. Start with `safe-path.ts`, then `container/` for how a container is run.
 */
export { errorKinds } from "./errors.ts";
export { peerCredentials, type PeerCredentials } from "./peer-credentials.ts";
export {
  createFileBeneath,
  makeDirectoryBeneath,
  openBeneath,
  openFileForReading,
  openTrustedDirectory,
  type FileKind,
  type OpenedPath,
} from "./safe-path.ts";
export {
  identifyProcess,
  isAlive,
  listProcesses,
  signalProcess,
  type ProcessIdentity,
  type SignalName,
} from "./process-identity.ts";
export { adoptOrphans, collectOrphans, type ProcessEnd } from "./orphans.ts";
export { processTree, raiseMemoryLockLimit } from "./process-limits.ts";
export { innermostPid, listThreads, pinThread, type ThreadInfo } from "./threads.ts";
export { claimDevice } from "./claim-device.ts";
export { moveThreads } from "./cpu-group.ts";
export { openKernelTree, type KernelTree } from "./kernel-tree.ts";
export { bootId, machineFacts, type MachineFacts } from "./machine-facts.ts";
export { adoptContainer, startContainer, type ContainerProcess } from "./container/container-process.ts";
export { readContainerState, type ContainerState } from "./container/container-state.ts";
export type {
  ContainerCredentials,
  ContainerDevice,
  ContainerMount,
  ContainerSpec,
} from "./container/container-spec.ts";
export { closeInput, openInput, resizeContainer, type ContainerInput } from "./container/container-input.ts";
export { followOutput } from "./container/container-output.ts";
export { createDescriptorWriter, type DescriptorWriter } from "./container/descriptor-writer.ts";
export { isolationGaps } from "./container/isolation.ts";
export { openGroupTree, type GroupTree } from "./container/group-tree.ts";
export { createLogPump, type LogPump } from "./container/log-pump.ts";
export { parseLogLine, type LogEntry } from "./container/log-format.ts";
export { execInContainer } from "./container/container-exec.ts";
export { attachBlockDevice, detachBlockDevice, makeDeviceNode } from "./block-device.ts";
export { giveFile, makeSparseFile } from "./disk-file.ts";
export { graftFile, openProcessRoot, processMountPoints, ungraftFile } from "./graft-mount.ts";
export { isMountPoint, isShared, mountMemory, shareDirectory, unmountBelow } from "./mounts.ts";
export { createBridgedNetwork, defaultLinks, removeBridgedNetwork, usedNetworks } from "./network/bridged-network.ts";
export { bindToInterface } from "./network/interface-socket.ts";
export { socketInNetwork } from "./network/connect-in-network.ts";
export { openProcessNetwork, type NetworkChange, type ProcessNetwork } from "./network/process-network.ts";
export { grantDevice, tunDevice } from "./grant-device.ts";
export { openTerminal, type Terminal } from "./terminal.ts";
