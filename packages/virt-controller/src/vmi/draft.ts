import {
  withCondition,
  withoutCondition,
  type VirtualMachineInstance,
  type VirtualMachineInstancePhase,
} from "@polyvirt/api";
import type { Condition } from "@polyvirt/api/k8s";
import type { VmiEvent } from "./observed.ts";

type Status = NonNullable<VirtualMachineInstance["status"]>;

/** The status in the making: each step of the plan changes its share, and it is written once. */
export class StatusDraft {
  readonly events: VmiEvent[] = [];
  #status: Status;
  readonly #now: string;

  constructor(vmi: VirtualMachineInstance, now: Date) {
    this.#status = { ...vmi.status };
    this.#now = now.toISOString().replace(/\.\d+Z$/, "Z");
  }

  get status(): Readonly<Status> {
    return this.#status;
  }

  get phase(): VirtualMachineInstancePhase | undefined {
    return this.#status.phase;
  }

  setPhase(phase: VirtualMachineInstancePhase): void {
    if (this.#status.phase === phase) return;
    const entry = { phase, phaseTransitionTimestamp: this.#now };
    this.#status = {
      ...this.#status,
      phase,
      phaseTransitionTimestamps: [...(this.#status.phaseTransitionTimestamps ?? []), entry],
    };
  }

  /** Ends the VMI; the reason is what people see in its status and in an event. */
  fail(reason: string, message: string): void {
    this.setPhase("Failed");
    this.set({ reason });
    this.setCondition({ type: "Synchronized", status: "False", reason, message });
    this.event("Warning", reason, message);
  }

  set(fields: Partial<Status>): void {
    this.#status = { ...this.#status, ...fields };
  }

  setCondition(condition: Condition): void {
    const conditions = withCondition(this.#status.conditions, condition, this.#now);
    this.#status = { ...this.#status, conditions };
  }

  removeCondition(type: string): void {
    if (this.#status.conditions === undefined) return;
    this.#status = { ...this.#status, conditions: withoutCondition(this.#status.conditions, type) };
  }

  event(type: VmiEvent["type"], reason: string, message: string): void {
    this.events.push({ type, reason, message });
  }
}
