import type { Socket } from "node:net";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { hasCode, isJsonObject, parseDuration } from "@polyvirt/core";
import type { GuestQuestion, LauncherCommand, LauncherCommands } from "../launcher/launcher-commands.ts";
import { moveCursor } from "./move-cursor.ts";
import { Refusal } from "./refusal.ts";

/** What virt-api asks about one running guest, and what answering takes. */
interface GuestRequest {
  readonly vmi: VirtualMachineInstance;
  readonly launcher: LauncherCommands;
  readonly query: URLSearchParams;
  /** Undefined when there is none. */
  readonly body: unknown;
  readonly openScreen: () => Promise<Socket>;
}

interface GuestAnswer {
  readonly type: string;
  readonly body: Uint8Array;
}

type Handler = (request: GuestRequest) => Promise<GuestAnswer | undefined>;

const pictureTypes = new Set(["image/png", "image/x-portable-pixmap", "image/bmp"]);
const maxSeconds = 2 ** 31 - 1;

/** By method and the end of the path. */
const handlers: Readonly<Record<string, Handler>> = {
  "PUT pause": command("pause"),
  "PUT unpause": command("unpause"),
  "PUT reset": command("reset"),
  "PUT softreboot": command("softreboot"),
  "PUT unfreeze": command("unfreeze"),
  async "PUT freeze"({ launcher, vmi, body }) {
    await launcher.freeze(vmi, freezeSeconds(body));
    return undefined;
  },
  "GET guestosinfo": question("guestosinfo"),
  "GET userlist": question("userlist"),
  "GET filesystemlist": question("filesystemlist"),
  async "GET vnc/screenshot"({ launcher, vmi, query, openScreen }) {
    // A guest that saves its screen shows nothing until somebody moves.
    if (query.get("moveCursor") === "true") await moveCursor(await openScreen());
    const { mime, data } = await launcher.screenshot(vmi);
    return { type: pictureTypes.has(mime) ? mime : "application/octet-stream", body: data };
  },
};

/** Undefined when there is no such request. */
export function findHandler(method: string, action: string): Handler | undefined {
  const name = `${method} ${action}`;
  return Object.hasOwn(handlers, name) ? handlers[name] : undefined;
}

function command(name: LauncherCommand): Handler {
  return async ({ launcher, vmi }) => {
    await launcher.send(name, vmi);
    return undefined;
  };
}

function question(name: GuestQuestion): Handler {
  return async ({ launcher }) => ({
    type: "application/json",
    body: Buffer.from(JSON.stringify(await launcher.ask(name))),
  });
}

/** For how long the guest may be kept waiting at most; whoever freezes it must say. */
function freezeSeconds(body: unknown): number {
  const text = isJsonObject(body) ? body["unfreezeTimeout"] : undefined;
  if (typeof text !== "string") {
    throw new Refusal(400, "BadRequest", 'freezing needs a limit: {"unfreezeTimeout": "5m0s"}, or "0s" for none');
  }
  try {
    const seconds = Math.ceil(parseDuration(text) / 1000);
    if (seconds >= 0) return Math.min(seconds, maxSeconds);
  } catch (error) {
    if (!hasCode(error, "DurationInvalid")) throw error;
  }
  throw new Refusal(400, "BadRequest", `unfreezeTimeout "${text.slice(0, 64)}" is not a duration such as "5m0s"`);
}
