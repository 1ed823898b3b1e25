/** Paths of fields as Kubernetes writes them in errors: `spec.disks[0].name`, `labels[app]`; the root is `<nil>`. */
export class FieldPath {
  static readonly root = new FieldPath("");
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  child(name: string): FieldPath {
    if (name === "") return this;
    return new FieldPath(this.#text === "" ? name : `${this.#text}.${name}`);
  }

  index(position: number): FieldPath {
    return new FieldPath(`${this.#text}[${position}]`);
  }

  key(name: string): FieldPath {
    return new FieldPath(`${this.#text}[${name}]`);
  }

  toString(): string {
    return this.#text === "" ? "<nil>" : this.#text;
  }
}
