import type { VirtualMachineInstance } from "@polyvirt/api";

/** What the guest starts with, so that later changes of the spec can be compared with it. */
export function setMemoryStatus(draft: VirtualMachineInstance): void {
  const guest = draft.spec.domain.memory?.guest;
  if (guest === undefined) return;
  draft.status = {
    ...draft.status,
    memory: { guestAtBoot: guest, guestCurrent: guest, guestRequested: guest, ...draft.status?.memory },
  };
}

export function setCpuTopologyStatus(draft: VirtualMachineInstance): void {
  const { cores, sockets, threads } = draft.spec.domain.cpu ?? {};
  if (draft.status?.currentCPUTopology !== undefined) return;
  draft.status = {
    ...draft.status,
    currentCPUTopology: { cores: cores || 1, sockets: sockets || 1, threads: threads || 1 },
  };
}
