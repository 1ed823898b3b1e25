import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { errors } from "../errors.ts";

/**
 * Keeps two servers from opening one directory. The lock is an abstract unix socket named after the directory's inode:
 * the kernel frees it with the process, so that nothing stale is left after kill -9.
 */
export async function lockDirectory(path: string): Promise<{ release(): Promise<void> }> {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { dev, ino } = statSync(path);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EADDRINUSE") return reject(cause);
      reject(
        errors.StoreLocked(
          `open store ${path}: it is in use by another server${holder(path)}; stop that one first or choose another directory`,
          { fields: { path } },
        ),
      );
    });
    server.listen(`\0polyvirt-store-${dev}-${ino}`, resolve);
  });
  server.unref();
  writeFileSync(join(path, "pid"), `${process.pid}\n`, { mode: 0o600 });
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

function holder(path: string): string {
  try {
    return ` (pid ${readFileSync(join(path, "pid"), "utf8").trim()})`;
  } catch {
    return "";
  }
}
