/**
 * A disk for s390x in the layout that zipl writes for SCSI disks, and that QEMU's loader reads: block 0 points to a program
 * table, that to a list of components, each to the blocks of what is to be loaded and the address to load it to.
 */
const blockBytes = 512;
const magic = Buffer.from("zIPL");
const kernelAddress = 0x1_0000n;
const initramfsAddress = 0x200_0000n;
/** Program status word that starts the kernel in 31-bit mode, as it expects to be started. */
const startWord = 0x0008_0000_8001_0000n;
/** Fields of the kernel that a boot loader fills in, and how long the command line may be there. */
const kernelFields = { initramfs: 0x10408, commandLine: 0x10480, commandLineBytes: 896 } as const;
const block = { programTable: 1, components: 2, kernelMap: 3, initramfsMap: 4, data: 64 } as const;
const componentType = { execute: 1, load: 2 } as const;

export function writeIplDisk(kernel: Uint8Array, initramfs: Uint8Array, commandLine: string): Buffer {
  const patched = patchKernel(Buffer.from(kernel), initramfs.length, commandLine).subarray(Number(kernelAddress));
  const initramfsBlock = block.data + blocksOf(patched.length);
  const disk = Buffer.alloc((initramfsBlock + blocksOf(initramfs.length)) * blockBytes);
  const put = (number: number, ...parts: readonly Uint8Array[]): void => {
    Buffer.concat(parts).copy(disk, number * blockBytes);
  };
  const version = Buffer.alloc(12);
  version.writeUInt32BE(1, 0);
  put(0, magic, version, blockPointer(block.programTable, 1));
  // The first entry is the default, the second what a menu would call 1.
  put(block.programTable, magic, Buffer.alloc(12), ...[0, 1].map(() => blockPointer(block.components, 1)));
  put(
    block.components,
    magic,
    Buffer.alloc(28),
    component(blockPointer(block.kernelMap, 1), componentType.load, kernelAddress),
    component(blockPointer(block.initramfsMap, 1), componentType.load, initramfsAddress),
    component(Buffer.alloc(16), componentType.execute, startWord),
  );
  put(block.kernelMap, blockPointer(block.data, blocksOf(patched.length)));
  put(block.initramfsMap, blockPointer(initramfsBlock, blocksOf(initramfs.length)));
  put(block.data, patched);
  put(initramfsBlock, initramfs);
  return disk;
}

function patchKernel(kernel: Buffer, initramfsBytes: number, commandLine: string): Buffer {
  kernel.writeBigUInt64BE(initramfsAddress, kernelFields.initramfs);
  kernel.writeBigUInt64BE(BigInt(initramfsBytes), kernelFields.initramfs + 8);
  kernel.fill(0, kernelFields.commandLine, kernelFields.commandLine + kernelFields.commandLineBytes);
  kernel.write(commandLine, kernelFields.commandLine, kernelFields.commandLineBytes - 1, "latin1");
  return kernel;
}

/** Where blocks lie on the disk: number of the first, their size, how many follow it. */
function blockPointer(first: number, count: number): Buffer {
  const pointer = Buffer.alloc(16);
  pointer.writeBigUInt64BE(BigInt(first), 0);
  pointer.writeUInt16BE(blockBytes, 8);
  pointer.writeUInt16BE(count - 1, 10);
  return pointer;
}

function component(pointer: Buffer, type: number, address: bigint): Buffer {
  const rest = Buffer.alloc(16);
  rest.writeUInt8(type, 7);
  rest.writeBigUInt64BE(address, 8);
  return Buffer.concat([pointer, rest]);
}

function blocksOf(bytes: number): number {
  return Math.ceil(bytes / blockBytes);
}
