import type { DiskSource } from "./definition-types.ts";
import type { Section } from "./section.ts";

type SourceSection = Section<DiskSource>;
type Node = Readonly<Record<string, unknown>>;

const protocols = ["nbd", "iscsi", "rbd", "http", "https", "ftp", "ftps", "ssh"] as const;

const defaultPorts: Readonly<Record<string, number>> = { nbd: 10_809, iscsi: 3260, ssh: 22 };

/** The block node of a disk that another machine serves. Whoever serves it must not ask for a password. */
export function networkStorage(source: SourceSection): Node {
  if (source.has("auth"))
    throw source.refuse("auth", "the launcher keeps no secrets for storage; mount it into the pod");
  const protocol = source.oneOf("protocol", protocols);
  switch (protocol) {
    case "nbd":
      return { driver: "nbd", server: nbdServer(source), export: source.text("name") };
    case "iscsi":
      return iscsi(source);
    case "rbd":
      return rbd(source);
    case "ssh": {
      const { name, port } = oneHost(source, protocol);
      return { driver: "ssh", path: source.requireText("name"), server: { host: name, port: String(port) } };
    }
    case "http":
    case "https":
    case "ftp":
    case "ftps": {
      const { name, port } = oneHost(source, protocol);
      const query = source.text("query");
      const path = source.requireText("name").replace(/^\/*/, "/");
      const authority = port === undefined ? name : `${name}:${port}`;
      return { driver: protocol, url: `${protocol}://${authority}${path}${query === undefined ? "" : `?${query}`}` };
    }
    case undefined:
      throw source.refuse("protocol", "it must be given");
  }
}

function nbdServer(source: SourceSection): Node {
  const [host] = source.children("hosts");
  if (host?.oneOf("transport", ["tcp", "unix"]) === "unix") return { type: "unix", path: host.requireText("socket") };
  const { name, port } = oneHost(source, "nbd");
  return { type: "inet", host: name, port: String(port) };
}

/** Named `iqn…/lun`; without a number it is the first unit. */
function iscsi(source: SourceSection): Node {
  const { name, port } = oneHost(source, "iscsi");
  const [target, lun] = source.requireText("name").split("/");
  if (lun !== undefined && !/^\d+$/.test(lun)) throw source.refuse("name", "after the slash comes the unit's number");
  const initiator = source.child("initiator")?.child("iqn")?.text("name");
  const portal = `${name.includes(":") ? `[${name}]` : name}:${port}`;
  return { driver: "iscsi", portal, target, lun: Number(lun ?? 0), transport: "tcp", "initiator-name": initiator };
}

/** Named `pool/image` or `pool/namespace/image`. */
function rbd(source: SourceSection): Node {
  const parts = source.requireText("name").split("/");
  const [pool, image] = [parts[0], parts.at(-1)];
  if (parts.length < 2 || parts.length > 3 || parts.includes("")) throw source.refuse("name", "it must be pool/image");
  const server = source.children("hosts").map((host) => ({
    host: host.requireText("name"),
    port: String(host.number("port") ?? 6789),
  }));
  return {
    driver: "rbd",
    pool,
    namespace: parts.length === 3 ? parts[1] : undefined,
    image,
    snapshot: source.child("snapshot")?.text("name"),
    conf: source.child("config")?.text("file"),
    server: server.length === 0 ? undefined : server,
  };
}

function oneHost(source: SourceSection, protocol: string): { name: string; port: number | undefined } {
  const [host, ...others] = source.children("hosts");
  if (host === undefined || others.length > 0) throw source.refuse("hosts", `${protocol} needs one host`);
  host.oneOf("transport", ["tcp"]);
  return { name: host.requireText("name"), port: host.number("port") ?? defaultPorts[protocol] };
}
