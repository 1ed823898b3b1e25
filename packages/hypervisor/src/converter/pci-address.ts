import type { DomainAddress } from "@polyvirt/domain";

const pattern = /^([0-9a-f]{4}):([0-9a-f]{2}):([01][0-9a-f])\.([0-7])$/i;

export function isPciAddress(text: string): boolean {
  return pattern.test(text);
}

/** `0000:81:01.0` as libvirt's address element. */
export function parsePciAddress(text: string): DomainAddress | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, domain, bus, slot, fn] = match;
  return { type: "pci", domain: `0x${domain}`, bus: `0x${bus}`, slot: `0x${slot}`, function: `0x${fn}` };
}
