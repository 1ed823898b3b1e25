import { isJsonObject, type JsonObject } from "../json.ts";

/**
 * A set of field paths as a tree. Each step is written as in FieldsV1: `f:name` (field or map key), `k:{…}` (list item by
 * keys), `v:…` (item of a set).
 */
export class FieldSet {
  /** Whether the path to this node itself is in the set. */
  member = false;
  readonly children = new Map<string, FieldSet>();

  static fromJson(value: unknown): FieldSet {
    const set = new FieldSet();
    if (!isJsonObject(value)) return set;
    for (const [key, child] of Object.entries(value)) {
      if (key === ".") set.member = true;
      else {
        const node = FieldSet.fromJson(child);
        if (node.children.size === 0) node.member = true;
        set.children.set(key, node);
      }
    }
    return set;
  }

  toJson(): JsonObject {
    const result: JsonObject = {};
    if (this.member && this.children.size > 0) result["."] = {};
    for (const key of [...this.children.keys()].sort()) {
      const child = this.children.get(key);
      if (child !== undefined && !child.isEmpty()) result[key] = child.toJson();
    }
    return result;
  }

  child(step: string): FieldSet {
    let node = this.children.get(step);
    if (node === undefined) {
      node = new FieldSet();
      this.children.set(step, node);
    }
    return node;
  }

  isEmpty(): boolean {
    if (this.member) return false;
    for (const child of this.children.values()) if (!child.isEmpty()) return false;
    return true;
  }

  has(path: readonly string[]): boolean {
    const [step, ...rest] = path;
    return step === undefined ? this.member : this.children.get(step)?.has(rest) === true;
  }

  /** All paths in the set below this node; those of one level come before what lies below them. */
  *paths(prefix: readonly string[] = []): Generator<readonly string[]> {
    for (const [step, child] of this.children) if (child.member) yield [...prefix, step];
    for (const [step, child] of this.children) yield* child.paths([...prefix, step]);
  }

  union(other: FieldSet): FieldSet {
    return combine(this, other, (left, right) => left || right);
  }

  intersection(other: FieldSet): FieldSet {
    return combine(this, other, (left, right) => left && right);
  }

  /** Paths that are in this set and not in the other; what lies below a common path stays. */
  difference(other: FieldSet): FieldSet {
    return combine(this, other, (left, right) => left && !right);
  }

  /** Like difference, and what lies below a path of the other goes too. */
  withoutBelow(other: FieldSet): FieldSet {
    const result = new FieldSet();
    if (other.member) return result;
    result.member = this.member;
    for (const [step, child] of this.children) {
      const otherChild = other.children.get(step);
      const kept = otherChild === undefined ? child : child.withoutBelow(otherChild);
      if (!kept.isEmpty()) result.children.set(step, kept);
    }
    return result;
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty() && other.difference(this).isEmpty();
  }
}

const nothing = new FieldSet();

function combine(left: FieldSet, right: FieldSet, keep: (left: boolean, right: boolean) => boolean): FieldSet {
  const result = new FieldSet();
  result.member = keep(left.member, right.member);
  for (const step of new Set([...left.children.keys(), ...right.children.keys()])) {
    const child = combine(left.children.get(step) ?? nothing, right.children.get(step) ?? nothing, keep);
    if (!child.isEmpty()) result.children.set(step, child);
  }
  return result;
}

/** A path as people write it: `.spec.containers[name="web"].image`. */
export function describePath(path: readonly string[]): string {
  return path
    .map((step) => {
      const body = step.slice(2);
      if (step.startsWith("f:")) return `.${body}`;
      if (step.startsWith("v:")) return `[=${body}]`;
      const keys = Object.entries(JSON.parse(body) as JsonObject).sort(([left], [right]) => (left < right ? -1 : 1));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");
}
