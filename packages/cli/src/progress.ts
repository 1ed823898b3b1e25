import type { Writable } from "node:stream";

/** Progress for a person: one line a step, with the time it took. Goes to standard error, so output stays clean. */
export interface Progress {
  step<T>(what: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>;
}

export function createProgress(stream: Writable & { isTTY?: boolean }): Progress {
  const live = stream.isTTY === true;
  return {
    async step(what, work) {
      const started = performance.now();
      let shown = "";
      const note = (text: string): void => {
        if (text === shown) return;
        shown = text;
        stream.write(live ? `\r\x1b[K  … ${what}: ${text}` : `  … ${what}: ${text}\n`);
      };
      if (live) stream.write(`  … ${what}`);
      try {
        const result = await work(note);
        stream.write(`${live ? "\r\x1b[K" : ""}  ✓ ${what} (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
        return result;
      } catch (error) {
        stream.write(`${live ? "\r\x1b[K" : ""}  ✗ ${what}\n`);
        throw error;
      }
    },
  };
}
