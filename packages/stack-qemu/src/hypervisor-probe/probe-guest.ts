/**
 * A guest of less than 600 bytes that takes the place of a PC's firmware and does what a kernel does first. After each
 * stage it writes a letter to the debug console (port 0x402); at the end it makes QEMU exit through port 0x501:
 *
 *   A  runs at all, in real mode
 *   B  protected mode: GDT loaded, flat segments
 *   C  long mode: page tables for the first gibibyte built, paging and 64-bit code switched on
 *   D  20 million rounds of an arithmetic loop
 *   E  four times 4096 pages written, with the address translation thrown away in between
 *   F  2000 reads of an I/O port
 *   G  50 interrupts of the interval timer at 1 kHz taken through PIC and local APIC, halted in between
 *
 * A boot sector gets no further than A, and that much also runs on hypervisors that trap every instruction of a kernel and
 * take microseconds for each: there the stages up to C seem fine and D takes minutes.
 */
export const probeStages = [
  { letter: "A", name: "real mode" },
  { letter: "B", name: "protected mode" },
  { letter: "C", name: "long mode with paging" },
  { letter: "D", name: "a loop of 20 million rounds" },
  { letter: "E", name: "memory writes" },
  { letter: "F", name: "port input" },
  { letter: "G", name: "timer interrupts" },
] as const;

/** What QEMU exits with when the guest has written 0x10 to its exit device. */
export const probeExitCode = 33;

// Assembler source in words, in order; labels are offsets from 0xf0000, where the image lies.
// start16 (0x00): cli; out A; lgdt cs:gdtr; cr0 |= 1; ljmp 08:start32
// start32: ds = es = ss = 10; esp = 0x7000; out B; clear 24 KiB at 0x1000; PML4 0x1000 → PDPT 0x2000 → PD 0x3000 (first
//   entry → PT 0x4000 of 4 KiB pages, 511 entries of 2 MiB), PDPT[3] → PD 0x6000 with the local APIC at 0xfee00000;
//   cr3 = 0x1000; cr4 |= PAE; EFER |= LME; cr0 |= PG; ljmp 18:start64
// start64: out C; 20,000,000 × (rax += rcx; rol rax, 7); out D; 4 × (4096 × inc [16 MiB + n × 4 KiB]; cr3 = cr3); out E;
//   2000 × in 0x61; out F; IDT at 0x5000, all 256 gates → tick; PIC remapped to 0x20 and masked but for IRQ 0; APIC
//   enabled, LINT0 = ExtINT; PIT channel 0 mode 2, divisor 1193 (a kilohertz); sti; hlt until 50 ticks; cli;
//   out G and a line feed; out 0x10 → 0x501; hlt for ever
// tick: inc rbx; out 0x20 → 0x20 (end of interrupt); iretq
// gdt: null, 32-bit code, 32-bit data, 64-bit code, all marked as accessed because the image cannot be written
const code =
  "faba0204b041ee8cc88ed82e660f011630020f20c00c010f22c066ea22000f00080066b810008ed88ec08ed0bc0070000066ba0204b042ee" +
  "31c0bf00100000b900180000f3abc7050010000003200000c7050020000003300000c7050030000003400000c7051820000003600000c705" +
  "b86f00009300e0febf08300000b883002000b9ff0100008907050000200083c708e2f4bf00400000b803000000b900020000890705001000" +
  "0083c708e2f4b8001000000f22d80f20e083c8200f22e0b9800000c00f320d000100000f300f20c00d000000800f22c0eadf000f00180066" +
  "ba0204b043eeb9002d31014831c04801c848c1c007ffc975f566ba0204b044eebb0400000048c7c700000001b90010000048ff074881c700" +
  "100000ffc975f20f20d80f22d8ffcb75dc66ba0204b045eeb9d007000066ba6100ecffc975fb66ba0204b046ee48c7c700500000b9000100" +
  "00488d042500020f0066890766c74702180066c74704008e4889c648c1ee106689770648c74708000000004883c710ffc975d60f011c2536" +
  "020f00b011e620e6a0b020e621b028e6a1b004e621b002e6a1b001e621e6a1b0fee621b0ffe6a148bf0000e0fe00000000c787f0000000ff" +
  "010000c7875003000000070000b034e643b0a9e640b004e6404831db48c7c400700000fbf44883fb3272f9fa66ba0204b047eeb00aee66ba" +
  "0105b010eef4ebfd48ffc3b020e62048cf8db400008d74000000000000000000ffff0000009bcf00ffff00000093cf00ffff0000009baf00" +
  "1f0010020f00ff0f0050";

const imageBytes = 64 * 1024;
/** Where a processor begins: sixteen bytes before the end of the firmware. It jumps to f000:0000. */
const resetVector = { offset: imageBytes - 16, code: "ea000000f0" };

export function probeImage(): Uint8Array {
  const image = Buffer.alloc(imageBytes);
  Buffer.from(code, "hex").copy(image);
  Buffer.from(resetVector.code, "hex").copy(image, resetVector.offset);
  return image;
}
