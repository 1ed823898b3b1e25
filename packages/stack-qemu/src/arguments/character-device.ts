import { errors } from "@polyvirt/stack";
import type { CharacterSource, Serial } from "./definition-types.ts";
import type { MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** What serial ports and channels have in common. */
type CharacterDevice = Pick<Serial, "type" | "tty" | "sources" | "protocol" | "log">;

/** The kernel's limit for the path of a unix socket, without the closing NUL. */
const maxSocketPath = 107;

/** The host's side of a serial port, console or channel. Returns the id of its chardev. */
export function addCharacterBackend(device: Section<CharacterDevice>, deviceId: string, plan: MachinePlan): string {
  const id = `char${deviceId}`;
  const log = device.child("log");
  const logging = {
    logfile: log?.text("file"),
    logappend: log === undefined ? undefined : (log.toggle("append") ?? true),
  };
  const source = device.children("sources")[0];
  switch (device.oneOf("type", ["unix", "pty", "file", "null"])) {
    case "unix": {
      const path = socketPath(source);
      const bind = (source?.oneOf("mode", ["bind", "connect"]) ?? "bind") === "bind";
      device.child("protocol")?.oneOf("type", ["raw"]);
      plan.addChardev("socket", { id, path, ...(bind ? { server: true, wait: false } : {}), ...logging });
      break;
    }
    case "file":
      plan.addChardev("file", { id, path: source?.requireText("path"), append: source?.toggle("append"), ...logging });
      break;
    case "pty":
      device.skip("tty");
      source?.skip("path");
      plan.addChardev("pty", { id, ...logging });
      break;
    case "null":
    case undefined:
      plan.addChardev("null", { id, ...logging });
  }
  return id;
}

function socketPath(source: Section<CharacterSource> | undefined): string {
  const path = source?.text("path");
  if (source === undefined || path === undefined)
    throw errors.StackDefinitionRefused("read a unix socket: it needs a path");
  checkSocketPath(path, source.pathOf("path"));
  return path;
}

export function checkSocketPath(path: string, field: string): void {
  if (Buffer.byteLength(path) > maxSocketPath) {
    throw errors.StackDefinitionRefused(`read ${field}: a socket's path has at most ${maxSocketPath} bytes`);
  }
}
