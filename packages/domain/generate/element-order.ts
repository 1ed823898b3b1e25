/**
 * Order in which children are written where the schema leaves it open: the order that libvirt itself prints, as far as
 * readers look for it. What is not named keeps the schema's order, between the two lists.
 */
const firstElements: Readonly<Record<string, readonly string[]>> = {
  domain: words(
    "name uuid hwuuid genid title description metadata maxMemory memory currentMemory blkiotune memtune memoryBacking",
    "vcpu vcpus iothreads iothreadids defaultiothread cputune numatune resource sysinfo bootloader bootloader_args os",
    "idmap features cpu clock on_poweroff on_reboot on_crash on_lockfailure pm perf devices seclabel",
  ),
  disk: words("driver auth source backingStore mirror target iotune readonly shareable serial"),
  interface: words("mac source virtualport vlan target model driver"),
};
const lastElements: readonly string[] = ["boot", "alias", "acpi", "address"];

function words(...lines: string[]): string[] {
  return lines.join(" ").split(" ");
}

/** Sorts children: named first ones, then the rest, then the named last ones. */
export function preferredPlace(parent: string, child: string): number {
  const first = firstElements[parent]?.indexOf(child) ?? -1;
  if (first !== -1) return first - 1000;
  return lastElements.indexOf(child) + 1;
}
