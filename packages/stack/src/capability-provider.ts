/** Which guests the answers are about. */
export interface CapabilityTarget {
  /** As Kubernetes names it: amd64, arm64, s390x. */
  readonly architecture: string;
  /** How they run: `kvm`, `hyperv`, or `qemu` for software emulation. */
  readonly virtType: string;
}

/** The seven questions of the node labeller. A stack that cannot know answers with nothing, never with a guess. */
export interface CapabilityProvider {
  getHypervFeatures(): Promise<readonly string[]>;
  getSupportedMachineTypes(): Promise<readonly MachineType[]>;
  getSupportedCpuModels(): Promise<readonly CpuModel[]>;
  getHostCpuModelInfo(): Promise<HostCpuModel | undefined>;
  getSupportedCpuFeatures(): Promise<readonly string[]>;
  getNodeTscInfo(): Promise<NodeTscInfo | undefined>;
  getNodeSevFeatures(): Promise<NodeSevFeatures>;
}

export interface MachineType {
  readonly name: string;
  /** The versioned machine that an unversioned name stands for. */
  readonly canonical?: string;
  readonly maxCpus?: number;
  readonly deprecated?: boolean;
}

export interface CpuModel {
  readonly name: string;
  /** Whether this node can run the model with all its features. */
  readonly usable: boolean;
  readonly unavailableFeatures?: readonly string[];
  readonly deprecated?: boolean;
}

export interface HostCpuModel {
  readonly name: string;
  readonly vendor?: string;
  /** Features to add to the named model. */
  readonly requiredFeatures: readonly string[];
}

export interface NodeTscInfo {
  readonly frequencyHz: number;
  readonly scalable: boolean;
}

export interface NodeSevFeatures {
  readonly supported: boolean;
  readonly encryptedStateSupported?: boolean;
  readonly secureNestedPagingSupported?: boolean;
  readonly maxGuests?: number;
  readonly maxEncryptedStateGuests?: number;
}
