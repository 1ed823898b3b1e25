/**
 * What the first bytes of a disk image say. SAFETY: an image is what its author wants it to be; a qcow2 header may name
 * other files of the machine as backing or data file, and QEMU would open them. So the header is read here, once, and
 * everything that refers elsewhere is refused before QEMU sees the image.
 */
export type ImageHeader =
  | { readonly format: "raw" }
  | { readonly format: "qcow2"; readonly virtualBytes: bigint }
  | { readonly format: "refused"; readonly why: string };

/** As much of an image as `readImageHeader` needs. */
export const imageHeaderBytes = 512;

const qcow2Magic = 0x514649fb;
const incompatible = {
  dirty: 1n << 0n,
  corrupt: 1n << 1n,
  dataFile: 1n << 2n,
  compression: 1n << 3n,
  extendedL2: 1n << 4n,
};
const knownFeatures = incompatible.dirty | incompatible.compression | incompatible.extendedL2;

/** Containers of other programs, recognised so that nobody gets them as raw bytes by mistake. */
const foreignFormats: readonly { readonly name: string; readonly magic: Buffer }[] = [
  { name: "VMDK", magic: Buffer.from("KDMV") },
  { name: "VHDX", magic: Buffer.from("vhdxfile") },
  { name: "QED", magic: Buffer.from("QED\0") },
  { name: "LUKS", magic: Buffer.from("LUKS\xba\xbe", "latin1") },
  { name: "Parallels", magic: Buffer.from("WithoutFreeSpace") },
];

export function readImageHeader(bytes: Uint8Array): ImageHeader {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const foreign = foreignFormats.find(({ magic }) => header.subarray(0, magic.length).equals(magic));
  if (foreign !== undefined) return refused(`it is a ${foreign.name} image; convert it to qcow2 or raw`);
  if (header.length < 4 || header.readUInt32BE(0) !== qcow2Magic) return { format: "raw" };
  if (header.length < 72) return refused("its qcow2 header is cut off");
  const version = header.readUInt32BE(4);
  if (version !== 2 && version !== 3) return refused(`its qcow2 version ${version} is not known`);
  if (header.readBigUInt64BE(8) !== 0n) return refused("it names a backing file");
  if (header.readUInt32BE(32) !== 0) return refused("it is encrypted");
  const features = version === 3 && header.length >= 80 ? header.readBigUInt64BE(72) : 0n;
  if ((features & incompatible.dataFile) !== 0n) return refused("it keeps its data in another file");
  if ((features & incompatible.corrupt) !== 0n) return refused("it is marked as corrupt");
  if ((features & ~knownFeatures) !== 0n) return refused("it uses qcow2 features that are not known");
  return { format: "qcow2", virtualBytes: header.readBigUInt64BE(24) };
}

function refused(why: string): ImageHeader {
  return { format: "refused", why };
}
