import type { VirtualMachineInstance } from "@polyvirt/api";
import type { StatusDraft } from "./draft.ts";

/** What the status says from the beginning, as far as nobody has said it: a status given at creation is dropped. */
export function setInitialStatus({ spec }: VirtualMachineInstance, runtimeUser: number, draft: StatusDraft): void {
  const { runtimeUser: user, memory, currentCPUTopology } = draft.status;
  if (draft.phase === undefined) draft.setPhase("Pending");
  if (user === undefined) draft.set({ runtimeUser });
  const guest = spec.domain.memory?.guest;
  if (memory?.guestRequested === undefined && guest !== undefined) {
    draft.set({ memory: { ...memory, guestAtBoot: guest, guestCurrent: guest, guestRequested: guest } });
  }
  const { sockets, cores, threads } = spec.domain.cpu ?? {};
  if (currentCPUTopology === undefined && sockets !== undefined && cores !== undefined && threads !== undefined) {
    draft.set({ currentCPUTopology: { sockets, cores, threads } });
  }
}
