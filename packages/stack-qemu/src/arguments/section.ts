import { errors } from "@polyvirt/stack";

type Scalar = string | number | boolean;

/** Keys of T whose value may be of type V. */
type KeysOf<T, V> = { [K in keyof T]-?: NonNullable<T[K]> extends V ? K : never }[keyof T] & string;

type Item<T> = NonNullable<T> extends readonly (infer Element)[] ? Element : never;

/**
 * One element of the machine definition, read with memory: what nobody has read or skipped by the end is what QEMU would
 * not get, and `unread` finds it, so that no field is ever ignored in silence. Every section knows its path, and refusals
 * name it.
 */
export class Section<T extends object> {
  readonly path: string;
  readonly #value: T;
  readonly #read = new Map<string, readonly Section<object>[]>();

  constructor(value: T, path = "") {
    this.#value = value;
    this.path = path;
  }

  has(key: keyof T & string): boolean {
    return this.#value[key] !== undefined;
  }

  text(key: KeysOf<T, Scalar>): string | undefined {
    this.#read.set(key, []);
    return scalarText(this.#value[key]);
  }

  requireText(key: KeysOf<T, Scalar>): string {
    const text = this.text(key);
    if (text === undefined) throw errors.StackDefinitionRefused(`read ${this.pathOf(key)}: it must be given`);
    return text;
  }

  /** A whole number that is not negative, in decimal or hexadecimal. */
  number(key: KeysOf<T, Scalar>): number | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    const value = /^(0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value)) throw this.refuse(key, "it must be a whole number");
    return value;
  }

  /** `yes`/`no` and `on`/`off` of the definition as a boolean. */
  toggle(key: KeysOf<T, Scalar>): boolean | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    if (["yes", "on", "true"].includes(text)) return true;
    if (["no", "off", "false"].includes(text)) return false;
    throw this.refuse(key, "it must be yes or no");
  }

  oneOf<const Known extends string>(key: KeysOf<T, Scalar>, known: readonly Known[]): Known | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    const found = known.find((candidate) => candidate === text);
    if (found === undefined) throw this.refuse(key, `the qemu stack knows only ${known.join(", ")}`);
    return found;
  }

  child<K extends KeysOf<T, object>>(key: K): Section<NonNullable<T[K]> & object> | undefined {
    const value = this.#value[key];
    if (value === undefined || value === null) return undefined;
    // KeysOf says that the value is an object.
    return this.#sections(key, [value as NonNullable<T[K]> & object], () => this.pathOf(key))[0];
  }

  requireChild<K extends KeysOf<T, object>>(key: K): Section<NonNullable<T[K]> & object> {
    const section = this.child(key);
    if (section === undefined) throw errors.StackDefinitionRefused(`read ${this.pathOf(key)}: it must be given`);
    return section;
  }

  children<K extends KeysOf<T, readonly object[]>>(key: K): Section<Item<T[K]> & object>[] {
    // KeysOf says that the value is a list of objects.
    const values = (this.#value[key] ?? []) as readonly (Item<T[K]> & object)[];
    return this.#sections(key, values, (index) => `${this.pathOf(key)}[${index}]`);
  }

  /** Makes the sections of a key at the first call; whoever asks again goes on with the same ones. */
  #sections<V extends object>(key: string, values: readonly V[], pathOf: (index: number) => string): Section<V>[] {
    // What is kept under the key was made from the same values.
    const known = this.#read.get(key) as unknown as Section<V>[] | undefined;
    if (known !== undefined && known.length > 0) return known;
    const made = values.map((value, index) => new Section(value, pathOf(index)));
    this.#read.set(key, made as unknown as Section<object>[]);
    return made;
  }

  /** Marks fields as known to need nothing from QEMU. The caller says why. */
  skip(...keys: (keyof T & string)[]): void {
    for (const key of keys) this.#read.set(key, []);
  }

  pathOf(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`;
  }

  /** The error for a value that QEMU cannot be given. */
  refuse(key: keyof T & string, why: string): Error {
    const path = this.pathOf(key);
    const text = scalarText(this.#value[key]);
    const shown = text === undefined ? "" : ` (${text.slice(0, 100)})`;
    return errors.StackDefinitionRefused(`express ${path}${shown} in QEMU's arguments: ${why}`, { fields: { path } });
  }

  /** Paths of everything below that was neither read nor skipped. */
  unread(): string[] {
    return Object.entries(this.#value).flatMap(([key, value]) => {
      if (value === undefined) return [];
      const sections = this.#read.get(key);
      if (sections === undefined) return [this.pathOf(key)];
      return sections.flatMap((section) => section.unread());
    });
  }
}

function scalarText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? `${value}` : undefined;
}
