/** Cuts a byte stream into JSON values, one a line. A peer that sends a longer line than the limit is an error. */
export class JsonLines {
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The values that the chunk completes. Throws a plain Error that says what is wrong with the stream. */
  push(chunk: Buffer): unknown[] {
    const values: unknown[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#append(chunk.subarray(start, end));
      start = end + 1;
      const line = Buffer.concat(this.#parts).toString("utf8").trim();
      this.#parts = [];
      this.#length = 0;
      if (line !== "") values.push(JSON.parse(line));
    }
    this.#append(chunk.subarray(start));
    return values;
  }

  #append(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#length > this.#maxLineBytes) throw new Error(`a line is longer than ${this.#maxLineBytes} bytes`);
    this.#parts.push(part);
  }
}
