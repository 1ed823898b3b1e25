import type { GuestDisk, GuestFilesystem, GuestInterface, GuestOs, GuestUser } from "../guest-agent.ts";

/**
 * Reading what the agent says. SAFETY: the guest may say anything. Only the fields that are known get through, each with
 * its type checked, texts and lists cut to a size that fits an API object.
 */
const maxText = 256;
const maxItems = 64;
const maxDisks = 8;

type Json = Readonly<Record<string, unknown>>;

export function readVersion(answer: unknown): string {
  return text(object(answer)["version"]) ?? "unknown";
}

/** Commands that the agent has and is willing to run. */
export function readCommands(answer: unknown): string[] {
  return commandNames(answer, (command) => command["enabled"] === true);
}

/** Commands that the agent has, willing or not: while file systems are frozen it runs only a few of them. */
export function readKnownCommands(answer: unknown): string[] {
  return commandNames(answer, () => true);
}

function commandNames(answer: unknown, counts: (command: Json) => boolean): string[] {
  const commands = object(answer)["supported_commands"];
  return (Array.isArray(commands) ? commands : [])
    .slice(0, 256)
    .map(object)
    .filter(counts)
    .flatMap((command) => text(command["name"]) ?? []);
}

export function readOs(answer: unknown): GuestOs {
  const os = object(answer);
  const fields = {
    id: text(os["id"]),
    name: text(os["name"]),
    version: text(os["version"]),
    prettyName: text(os["pretty-name"]),
    versionId: text(os["version-id"]),
    kernelRelease: text(os["kernel-release"]),
    kernelVersion: text(os["kernel-version"]),
    machine: text(os["machine"]),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function readHostname(answer: unknown): string | undefined {
  return text(object(answer)["host-name"]);
}

export function readTimezone(answer: unknown): string | undefined {
  const { zone, offset } = object(answer);
  const name = text(zone);
  return typeof offset === "number" ? `${name ?? "UTC"}, ${offset}` : name;
}

export function readInterfaces(answer: unknown): GuestInterface[] {
  return list(answer).flatMap((item) => {
    const name = text(item["name"]);
    if (name === undefined) return [];
    const macAddress = text(item["hardware-address"]);
    const addresses = list(item["ip-addresses"]).flatMap((address) => text(address["ip-address"]) ?? []);
    return [{ name, ipAddresses: addresses, ...(macAddress === undefined ? {} : { macAddress }) }];
  });
}

export function readUsers(answer: unknown): GuestUser[] {
  return list(answer).flatMap((item) => {
    const name = text(item["user"]);
    if (name === undefined) return [];
    const domain = text(item["domain"]);
    const login = number(item["login-time"]);
    return [
      {
        name,
        ...(domain === undefined ? {} : { domain }),
        ...(login === undefined ? {} : { loginTimeSeconds: login }),
      },
    ];
  });
}

export function readFilesystems(answer: unknown): GuestFilesystem[] {
  return list(answer).flatMap((item) => {
    const mountPoint = text(item["mountpoint"]);
    if (mountPoint === undefined) return [];
    return [
      {
        diskName: text(item["name"]) ?? "",
        mountPoint,
        type: text(item["type"]) ?? "",
        usedBytes: count(item["used-bytes"]),
        totalBytes: count(item["total-bytes"]),
        disks: list(item["disk"]).slice(0, maxDisks).map(readDisk),
      },
    ];
  });
}

function readDisk(disk: Json): GuestDisk {
  const serial = text(disk["serial"]);
  return { busType: text(disk["bus-type"]) ?? "unknown", ...(serial === undefined ? {} : { serial }) };
}

export function readFrozen(answer: unknown): boolean {
  return answer === "frozen";
}

/** State of a command that runs in the guest. */
export function readExecStatus(answer: unknown): { exited: boolean; exitCode: number; stdout: string } {
  const status = object(answer);
  const output = status["out-data"];
  const stdout = typeof output === "string" ? Buffer.from(output, "base64").toString("utf8") : "";
  return {
    exited: status["exited"] === true,
    // A command that a signal ended has no code; shells report 128 and the signal.
    exitCode: exitCode(status["exitcode"]) ?? 128 + (exitCode(status["signal"]) ?? 0),
    stdout: stdout.slice(0, 64 * 1024),
  };
}

/** As processes have them; anything else counts as failed. */
function exitCode(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255 ? value : undefined;
}

export function readPid(answer: unknown): number | undefined {
  return number(object(answer)["pid"]);
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.slice(0, maxItems).map(object) : [];
}

function object(value: unknown): Json {
  // JSON objects have string keys; anything else is looked up as if empty.
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function text(value: unknown): string | undefined {
  // Control characters have no place in a name and could disturb a terminal.
  return typeof value === "string" && value !== "" ? value.slice(0, maxText).replaceAll(/\p{Cc}/gu, " ") : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A number of bytes: whole, and none below zero, because clients read it as such. */
function count(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
