// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Kernel boot. */
export interface KernelBoot {
  /** Container. */
  container?: KernelBootContainer;
  /** Kernel args. */
  kernelArgs?: string;
}

/** Kernel boot container. */
export interface KernelBootContainer {
  /** Image. */
  image: string;
  /** Image pull policy. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** Image pull secret. */
  imagePullSecret?: string;
  /** Initrd path. */
  initrdPath?: string;
  /** Kernel path. */
  kernelPath?: string;
}

/** Kernel boot status. */
export interface KernelBootStatus {
  /** Initrd info. */
  initrdInfo?: InitrdInfo;
  /** Kernel info. */
  kernelInfo?: KernelInfo;
}

/** Kernel info. */
export interface KernelInfo {
  /** Checksum. */
  checksum?: number;
}

/** Initrd info. */
export interface InitrdInfo {
  /** Checksum. */
  checksum?: number;
}
