import * as fs from "node:fs";
import * as path from "node:path";
import type { LogStream } from "./log-format.ts";

const chunkBytes = 64 * 1024;

/**
 * Follows what a running container writes from now on, as it is, until `stop`. `onData` returns a promise when it wants
 * no more for the moment.
 */
export function followOutput(
  directory: string,
  stream: LogStream,
  onData: (data: Buffer) => Promise<void> | undefined,
): { drain(): Promise<void>; stop(): void } {
  const file = path.join(directory, stream);
  let position = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let reading: Promise<void> | undefined;
  let again = false;
  const read = async (): Promise<void> => {
    const handle = await fs.promises.open(file, "r");
    try {
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        await onData(buffer.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  };
  const drain = async (): Promise<void> => {
    again = true;
    reading ??= (async () => {
      while (again) {
        again = false;
        // The container's directory was removed: there is nothing more to read.
        await read().catch(() => {});
      }
      reading = undefined;
    })();
    await reading;
  };
  const watcher = fs.watch(directory, { persistent: false }, (_event, name) => {
    if (name === stream) void drain();
  });
  watcher.on("error", () => {});
  return { drain, stop: () => watcher.close() };
}
