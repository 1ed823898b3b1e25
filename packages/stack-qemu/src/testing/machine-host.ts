import type { MachineHost } from "../arguments/machine-plan.ts";

/** A host whose answers never change. */
export const testHost: MachineHost = {
  now: Date.UTC(2026, 0, 2, 3, 4, 5),
  stateDirectory: "/run/state",
  persistentDirectory: "/run/kept",
};
