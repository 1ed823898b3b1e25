import { errors } from "@polyvirt/stack";
import type { CharacterSource, Serial } from "./definition-types.ts";
import type { MachinePlan } from "./machine-plan.ts";
import type { OptionValues } from "./option.ts";
import type { Section } from "./section.ts";

/** What serial ports, consoles and channels have in common. */
type CharacterDevice = Pick<Serial, "type" | "tty" | "sources" | "protocol" | "log">;
type DeviceSection = Section<CharacterDevice>;
type SourceSection = Section<CharacterSource>;

/** The kernel's limit for the path of a unix socket, without the closing NUL. */
const maxSocketPath = 107;

/** The host's side of a serial port, console or channel. Returns the id of its chardev. */
export function addCharacterBackend(device: DeviceSection, deviceId: string, plan: MachinePlan): string {
  const id = `char${deviceId}`;
  const log = device.child("log");
  const logging = {
    logfile: log?.text("file"),
    logappend: log === undefined ? undefined : (log.toggle("append") ?? true),
  };
  const { backend, values } = backendOf(device, `${plan.host.stateDirectory}/${deviceId}.sock`);
  plan.addChardev(backend, { id, ...values, ...logging });
  return id;
}

interface Backend {
  /** QEMU's name for it. */
  readonly backend: string;
  readonly values: OptionValues;
}

/** A socket that the definition does not name gets the given path. */
function backendOf(device: DeviceSection, ownSocket: string): Backend {
  const [source] = device.children("sources");
  const type = device.oneOf("type", ["unix", "pty", "file", "null", "dev", "pipe", "stdio", "vc", "tcp", "udp"]);
  switch (type) {
    case "unix":
      return { backend: "socket", values: unixSocket(device, source, ownSocket) };
    case "tcp":
      return { backend: "socket", values: tcpSocket(device, source) };
    case "udp":
      return { backend: "udp", values: udpSocket(device) };
    case "file":
      return { backend: "file", values: { path: pathOf(device, source), append: source?.toggle("append") } };
    case "dev":
      return { backend: "serial", values: { path: pathOf(device, source) } };
    case "pipe":
      return { backend: "pipe", values: { path: pathOf(device, source) } };
    case "pty":
      // The path is where it was the last time; the kernel chooses another one.
      device.skip("tty");
      source?.skip("path");
      return { backend: "pty", values: {} };
    case "stdio":
    case "vc":
    case "null":
      return { backend: type, values: {} };
    case undefined:
      return { backend: "null", values: {} };
  }
}

function unixSocket(device: DeviceSection, source: SourceSection | undefined, ownSocket: string): OptionValues {
  device.child("protocol")?.oneOf("type", ["raw"]);
  const listen = listening(device, source);
  const path = listen["server"] === true ? (source?.text("path") ?? ownSocket) : pathOf(device, source);
  checkSocketPath(path, source?.pathOf("path") ?? device.path);
  return { path, ...listen };
}

function tcpSocket(device: DeviceSection, source: SourceSection | undefined): OptionValues {
  if (source?.toggle("tls") ?? false) {
    throw device.refuse("sources", "no certificates are kept for tls; use a unix socket");
  }
  const telnet = device.child("protocol")?.oneOf("type", ["raw", "telnet"]) === "telnet";
  return {
    host: source?.text("host") ?? "127.0.0.1",
    port: portOf(device, source),
    telnet: telnet || undefined,
    ...listening(device, source),
  };
}

/** Two sources: where to send, and where to receive. */
function udpSocket(device: DeviceSection): OptionValues {
  const sources = device.children("sources");
  const to = sources.find((source) => source.text("mode") === "connect");
  const from = sources.find((source) => source.text("mode") === "bind");
  return {
    host: to?.text("host") ?? "127.0.0.1",
    port: portOf(device, to),
    localaddr: from?.text("host"),
    localport: from === undefined ? undefined : (from.number("service") ?? 0),
  };
}

/** Who waits for whom: QEMU for others, or it connects, again and again where the definition says so. */
function listening(device: DeviceSection, source: SourceSection | undefined): OptionValues {
  const bind = (source?.oneOf("mode", ["bind", "connect"]) ?? "bind") === "bind";
  const reconnect = source?.child("reconnect");
  const again = reconnect?.toggle("enabled") ?? false;
  if (bind && again) throw device.refuse("sources", "only one who connects can reconnect");
  return bind ? { server: true, wait: false } : { reconnect: again ? (reconnect?.number("timeout") ?? 1) : undefined };
}

function pathOf(device: DeviceSection, source: SourceSection | undefined): string {
  const path = source?.text("path");
  if (path === undefined) throw device.refuse("sources", "its source needs a path");
  return path;
}

function portOf(device: DeviceSection, source: SourceSection | undefined): number {
  const port = source?.number("service");
  if (port === undefined || port > 65_535)
    throw device.refuse("sources", "its source needs a service: a port's number");
  return port;
}

export function checkSocketPath(path: string, field: string): void {
  if (Buffer.byteLength(path) > maxSocketPath) {
    throw errors.StackDefinitionRefused(`read ${field}: a socket's path has at most ${maxSocketPath} bytes`);
  }
}
