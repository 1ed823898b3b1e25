import type { DomainSpec, VirtualMachineInstance, VirtualMachineInstancePreset } from "@polyvirt/api";
import { jsonEqual, matchesLabelSelector } from "@polyvirt/core";

const excludeAnnotation = "virtualmachineinstancepresets.admission.kubevirt.io/exclude";
const appliedAnnotation = (preset: string): string => `virtualmachinepreset.kubevirt.io/${preset}`;

export type AppliedPresets =
  /** `warnings` name settings of a preset that the VMI overrides. */
  | { readonly vmi: VirtualMachineInstance; readonly warnings: readonly string[] }
  /** Presets that contradict each other; nothing was applied. */
  | { readonly conflict: string };

/** A part of the domain that a preset sets as a whole. Clock and its timers are apart, requests are compared one by one. */
interface Part {
  /** How it is named in messages. */
  readonly name: string;
  readonly read: (domain: DomainSpec) => unknown;
  readonly copy: (from: DomainSpec, to: DomainSpec) => void;
}

const whole = (key: "cpu" | "firmware" | "features" | "ioThreadsPolicy"): Part => ({
  name: `spec.${key}`,
  read: (domain) => domain[key],
  copy: (from, to) => Object.assign(to, { [key]: from[key] }),
});

const clockOffset = ({ clock }: DomainSpec): unknown =>
  clock === undefined ? undefined : { utc: clock.utc, timezone: clock.timezone };

const parts: readonly Part[] = [
  {
    name: "spec.resources.requests",
    read: ({ resources }) => resources?.requests,
    copy: (from, to) => {
      const requests = from.resources?.requests;
      if (requests !== undefined) to.resources = { ...to.resources, requests };
    },
  },
  whole("cpu"),
  whole("firmware"),
  {
    name: "spec.clock.clockoffset",
    read: clockOffset,
    copy: (from, to) => {
      const { timer: _, ...offset } = from.clock ?? {};
      to.clock = { ...to.clock, ...offset };
    },
  },
  {
    name: "spec.clock.timer",
    read: ({ clock }) => clock?.timer,
    copy: (from, to) => {
      const timer = from.clock?.timer;
      if (timer !== undefined) to.clock = { ...to.clock, timer };
    },
  },
  whole("features"),
  {
    name: "spec.devices.watchdog",
    read: ({ devices }) => (devices as DomainSpec["devices"] | undefined)?.watchdog, // A preset may leave devices out.
    copy: (from, to) => {
      const { watchdog } = from.devices;
      if (watchdog !== undefined) to.devices = { ...to.devices, watchdog };
    },
  },
  whole("ioThreadsPolicy"),
];

/**
 * Gives a new VMI the settings of the presets whose labels it has. What the VMI says itself stays; presets that contradict
 * each other are an error, because their order must not matter. `presets` are those of the VMI's namespace.
 */
export function applyPresets(
  vmi: VirtualMachineInstance,
  presets: readonly VirtualMachineInstancePreset[],
): AppliedPresets {
  if (vmi.metadata.annotations?.[excludeAnnotation] === "true") return { vmi, warnings: [] };
  const matching = presets.filter(({ spec }) => matchesLabelSelector(spec?.selector, vmi.metadata.labels ?? {}));
  const conflicts = conflictsAmong(matching);
  if (conflicts.length > 0) {
    return { conflict: `VirtualMachinePresets cannot be applied due to conflicts: ${aggregate(conflicts)}` };
  }
  const draft = structuredClone(vmi);
  const warnings: string[] = [];
  for (const preset of matching) {
    const name = preset.metadata.name ?? "";
    const from = preset.spec?.domain;
    if (from === undefined) continue;
    const overridden = differences(from, draft.spec.domain);
    if (merge(from, draft.spec.domain)) {
      draft.metadata.annotations = { ...draft.metadata.annotations, [appliedAnnotation(name)]: "kubevirt.io/v1" };
      if (overridden.length > 0)
        warnings.push(
          `Some settings were not applied for VirtualMachineInstancePreset '${name}': ${aggregate(overridden)}`,
        );
    } else if (overridden.length > 0) {
      warnings.push(`Unable to apply VirtualMachineInstancePreset '${name}': ${aggregate(overridden)}`);
    }
  }
  return { vmi: draft, warnings };
}

/** Copies the parts that the VMI lacks; whether it has any part of the preset afterwards. */
function merge(from: DomainSpec, to: DomainSpec): boolean {
  let applied = false;
  for (const { read, copy } of parts) {
    const wanted = read(from);
    if (wanted === undefined) continue;
    if (read(to) === undefined) copy(structuredClone(from), to);
    if (jsonEqual(read(to), wanted)) applied = true;
  }
  return applied;
}

/** Where both say something, and not the same. */
function differences(one: DomainSpec, other: DomainSpec): string[] {
  return parts.flatMap(({ name, read }) => {
    const [left, right] = [read(one), read(other)];
    if (left === undefined || right === undefined) return [];
    if (name === "spec.resources.requests") return requestDifferences(one, other);
    return jsonEqual(left, right) ? [] : [`${name}: ${JSON.stringify(left)} != ${JSON.stringify(right)}`];
  });
}

function requestDifferences(one: DomainSpec, other: DomainSpec): string[] {
  const others = other.resources?.requests ?? {};
  return Object.entries(one.resources?.requests ?? {}).flatMap(([key, value]) => {
    const held = others[key];
    return held === undefined || String(held) === String(value)
      ? []
      : [`spec.resources.requests[${key}]: ${value} != ${held}`];
  });
}

function conflictsAmong(presets: readonly VirtualMachineInstancePreset[]): string[] {
  return presets.flatMap((preset, index) =>
    presets.slice(0, index).flatMap((earlier) => {
      const found = differences(preset.spec?.domain ?? { devices: {} }, earlier.spec?.domain ?? { devices: {} });
      if (found.length === 0) return [];
      return [`presets '${preset.metadata.name}' and '${earlier.metadata.name}' conflict: ${aggregate(found)}`];
    }),
  );
}

/** Several messages as Kubernetes writes them in one: in brackets when there are more than one. */
function aggregate(messages: readonly string[]): string {
  return messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`;
}
