import { isIP } from "node:net";
import { isJsonObject } from "@polyvirt/core";
import { parseObject, readOs, text, type GuestOsInfo } from "./guest-json.ts";

/** What a guest's agent tells, as far as it is believed: typed and capped, because the guest can say anything. */
export interface GuestInfo {
  readonly connected: boolean;
  readonly supported: boolean;
  readonly os: GuestOsInfo | undefined;
  readonly interfaces: readonly GuestInterface[];
  readonly filesystemsFrozen: boolean;
  /** Whether the launcher could give the guest's users their credentials; undefined before it has tried. */
  readonly credentials?: { readonly succeeded: boolean; readonly message: string };
}

export interface GuestInterface {
  readonly name: string;
  readonly mac: string | undefined;
  readonly addresses: readonly string[];
}

const MAX_INTERFACES = 64;
const MAX_ADDRESSES = 32;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

export const noGuestInfo: GuestInfo = {
  connected: false,
  supported: false,
  os: undefined,
  interfaces: [],
  filesystemsFrozen: false,
};

/** Reads a launcher's answer. What has the wrong type is left out, what is too much is cut; nothing makes it fail. */
export function readGuestInfo(json: string, condition: { connected: boolean; supported: boolean }): GuestInfo {
  const root = parseObject(json);
  return {
    connected: condition.connected,
    supported: condition.supported,
    os: readOs(root["os"]),
    interfaces: readInterfaces(root["interfaces"]),
    filesystemsFrozen: root["fsFreezeStatus"] === "frozen",
    ...readCredentials(root["accessCredentials"]),
  };
}

function readCredentials(value: unknown): Pick<GuestInfo, "credentials"> {
  if (!isJsonObject(value)) return {};
  return { credentials: { succeeded: value["succeeded"] === true, message: text(value["message"]) ?? "" } };
}

function readInterfaces(value: unknown): GuestInterface[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_INTERFACES).flatMap((item: unknown) => {
    if (!isJsonObject(item)) return [];
    const name = text(item["name"]);
    if (name === undefined || name === "lo") return [];
    const mac = text(item["macAddress"])?.toLowerCase();
    return [
      { name, mac: mac !== undefined && MAC.test(mac) ? mac : undefined, addresses: addresses(item["ipAddresses"]) },
    ];
  });
}

function addresses(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, MAX_ADDRESSES)
    .filter((address): address is string => typeof address === "string" && isIP(address) !== 0);
}
