import type { VirtualMachineInstanceSpec } from "@polyvirt/api";

/** Something whose support depends on hypervisor, architecture or gate, and how to find it in a VMI. */
export interface Feature<Key extends string> {
  readonly key: Key;
  readonly title: string;
  /** The field below `spec`, with `[]` for lists. */
  readonly field: string;
  /** Paths below `spec` where this VMI asks for it. */
  readonly find: (spec: VirtualMachineInstanceSpec) => readonly string[];
}

export type Spec = VirtualMachineInstanceSpec;

/** A field that is either there or not. */
export function field<Key extends string>(
  key: Key,
  title: string,
  path: string,
  uses: (spec: Spec) => boolean,
): Feature<Key> {
  return { key, title, field: path, find: (spec) => (uses(spec) ? [path] : []) };
}

/** Every element of a list that meets the condition; `path` has `[]` where the index goes. */
export function each<Key extends string, Item>(
  key: Key,
  title: string,
  path: string,
  list: (spec: Spec) => readonly Item[] | undefined,
  uses: (item: Item) => boolean = () => true,
): Feature<Key> {
  const [head = "", tail = ""] = path.split("[]");
  const find = (spec: Spec): string[] =>
    (list(spec) ?? []).flatMap((item, index) => (uses(item) ? [`${head}[${index}]${tail}`] : []));
  return { key, title, field: path, find };
}

/** Present, and not switched off. */
export function isOn(state: { readonly enabled?: boolean } | undefined): boolean {
  return state !== undefined && state.enabled !== false;
}
