import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { errors, type Graphics } from "@polyvirt/stack";
import type { QemuLifecycle } from "./lifecycle/qemu-lifecycle.ts";

export function qemuGraphics(lifecycle: QemuLifecycle, scratchDirectory: string): Graphics {
  return {
    vncSocket() {
      const displays = lifecycle.running("open the display of").definition.devices?.graphics ?? [];
      const sockets = displays.flatMap((display) => [
        display.socket,
        ...(display.listens ?? []).map((listen) => listen.socket),
      ]);
      const socket = sockets.find((path) => path !== undefined);
      if (socket === undefined) throw errors.StackDomainNotFound("open the display: the machine has no VNC socket");
      return socket;
    },
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
