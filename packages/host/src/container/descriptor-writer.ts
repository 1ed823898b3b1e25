import * as fs from "node:fs";

/** Writes to a descriptor that takes only so much at a time: a terminal, a pipe. */
export interface DescriptorWriter {
  write(data: Buffer): void;
  /** Closes the descriptor once everything is written. */
  close(): void;
}

const retryMs = 20;

/** What does not fit is tried again, in order; what nobody reads any more is dropped. */
export function createDescriptorWriter(descriptor: number): DescriptorWriter {
  const waiting: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closing = false;
  const flush = (): void => {
    timer = undefined;
    for (let data = waiting[0]; data !== undefined; data = waiting[0]) {
      try {
        const written = fs.writeSync(descriptor, data);
        if (written < data.length) waiting[0] = data.subarray(written);
        else waiting.shift();
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "EAGAIN") {
          timer = setTimeout(flush, retryMs);
          return;
        }
        waiting.length = 0;
      }
    }
    if (closing) fs.closeSync(descriptor);
  };
  return {
    write(data) {
      if (closing) return;
      waiting.push(data);
      if (timer === undefined) flush();
    },
    close() {
      if (closing) return;
      closing = true;
      if (timer === undefined) flush();
    },
  };
}
