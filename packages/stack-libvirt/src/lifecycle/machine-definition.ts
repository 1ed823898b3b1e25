import { createHash } from "node:crypto";
import { writeDomain, type Domain } from "@polyvirt/domain";

/**
 * The definition as libvirt gets it: with an emulator, so that libvirt does not look for one, and with an id that the
 * same machine also has at the other end of a migration.
 */
export function definitionXml(definition: Domain): string {
  const architecture = definition.os?.type?.arch ?? "x86_64";
  const emulator = definition.devices?.emulator ?? emulatorFor(architecture);
  return writeDomain({
    ...definition,
    uuid: machineUuid(definition),
    devices: { ...definition.devices, emulator },
  });
}

/** By what libvirt knows the machine. */
export function machineUuid({ uuid, name }: Domain): string {
  return uuid ?? uuidOf(name ?? "");
}

/** Where distributions put QEMU for an architecture under QEMU's name for it. */
export function emulatorFor(architecture: string): string {
  return `/usr/bin/qemu-system-${architecture}`;
}

/** One device by itself, as libvirt wants it when it is plugged in. */
export function deviceXml(devices: NonNullable<Domain["devices"]>): string {
  const xml = writeDomain({ type: "qemu", devices });
  return xml.slice(xml.indexOf("<devices>") + "<devices>".length, xml.lastIndexOf("</devices>")).trim();
}

/** An id of version 5 made from the name. */
function uuidOf(name: string): string {
  const hash = createHash("sha1").update(`polyvirt:${name}`).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.subarray(0, 16).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
