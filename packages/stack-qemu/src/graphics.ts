import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { vncSocketOf, type Graphics } from "@polyvirt/stack";
import type { QemuLifecycle } from "./lifecycle/qemu-lifecycle.ts";

export function qemuGraphics(lifecycle: QemuLifecycle, scratchDirectory: string): Graphics {
  return {
    vncSocket: () => vncSocketOf((operation) => lifecycle.running(operation)),
    async screenshot() {
      const machine = lifecycle.running("photograph");
      const filename = join(scratchDirectory, `screenshot-${randomUUID()}.png`);
      try {
        await machine.monitor.execute("screendump", { filename, format: "png" });
        return { mime: "image/png", data: await readFile(filename) };
      } finally {
        await rm(filename, { force: true });
      }
    },
  };
}
