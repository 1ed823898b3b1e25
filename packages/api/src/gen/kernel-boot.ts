// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Start of a kernel from a container image. */
export interface KernelBoot {
  /** The image. */
  container?: KernelBootContainer;
  /** Command line of the kernel. */
  kernelArgs?: string;
}

/** A container image with a kernel. */
export interface KernelBootContainer {
  /** The image. */
  image: string;
  /** When nodes fetch it. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** Secret with the credentials of the registry. */
  imagePullSecret?: string;
  /** Path of the initrd in the image. */
  initrdPath?: string;
  /** Path of the kernel in the image. */
  kernelPath?: string;
}

/** Kernel and initrd that were started. */
export interface KernelBootStatus {
  /** The initrd. */
  initrdInfo?: InitrdInfo;
  /** The kernel. */
  kernelInfo?: KernelInfo;
}

/** A kernel that was started. */
export interface KernelInfo {
  /** CRC-32 of the file. */
  checksum?: number;
}

/** An initrd that was started. */
export interface InitrdInfo {
  /** CRC-32 of the file. */
  checksum?: number;
}
