/**
 * A guest of 512 bytes for x86 machines with a serial port at COM1: up in a fraction of a second, even emulated. It prints
 * a line and then echoes what it is sent, except for these letters:
 * `Q` powers off, `R` reboots, `I` makes it ignore the power button from then on (and echoes), `P` reports a kernel panic
 * to a pvpanic device. The power button powers it off.
 */
export const bootSectorGreeting = "POLYVIRT-GUEST-UP\r\n";

/** 16-bit code; the text above is its tail. Assembler source: */
// _start: cli; ds = ss = 0; sp = 0x7c00; outw 0x100 → 0x602 (power button may raise its bit); print the greeting; sti
// loop:   hlt (timer, 18 Hz); if inw 0x600 & 0x100: off; if no byte at COM1: loop; read it;
//         Q: off; I: outw 0 → 0x602, echo; R: outb 0xfe → 0x64; P: outb 1 → 0x505; else echo; loop
// off:    outw 0x2000 → 0x604 (sleep state 5)
const code =
  "fa31c08ed88ed0bc007cba0206b80001efbe7d7cac84c07405e85200ebf6fbf4ba0006eda900017521bafd03eca80174eebaf803ec3c51" +
  "74113c4974163c52741f3c507421e82600ebd5ba0406b80020efebcc50ba020631c0ef58e81000ebbfb0fee664ebb9ba0505b001eeebb1" +
  "50bafd03eca82074fb58baf803eec3";

/** A raw disk image that boots it: one mebibyte, because some firmware does not like smaller disks. */
export function bootSectorImage(): Uint8Array {
  const image = Buffer.alloc(1024 * 1024);
  Buffer.concat([Buffer.from(code, "hex"), Buffer.from(bootSectorGreeting)]).copy(image);
  image.writeUInt16LE(0xaa55, 510);
  return image;
}
