/**
 * What a guest tells of itself, as the objects of the subresource API. SAFETY: the guest can say anything, and clients in
 * other languages read these objects strictly; so each field has its type and each list its limit.
 */
import { virtualMachineInstances } from "@polyvirt/api";
import { apiVersionOf } from "@polyvirt/api/k8s";
import { isJsonObject, type JsonObject } from "@polyvirt/core";
import { parseList, parseObject, readOs, text } from "./guest-json.ts";

const apiVersion = apiVersionOf(virtualMachineInstances);
const MAX_USERS = 64;
const MAX_FILESYSTEMS = 64;
const MAX_DISKS = 8;
const MAX_COMMANDS = 256;

/** VirtualMachineInstanceGuestAgentInfo, from a launcher's answer. */
export function readGuestAgentInfo(json: string): object {
  const root = parseObject(json);
  const { fsInfo } = root;
  return {
    apiVersion,
    kind: "VirtualMachineInstanceGuestAgentInfo",
    guestAgentVersion: text(root["guestAgentVersion"]) ?? "",
    supportedCommands: commands(root["supportedCommands"]),
    ...named("hostname", root["hostname"]),
    os: readOs(root["os"]) ?? {},
    ...named("timezone", root["timezone"]),
    userList: users(listOf(root["userList"])),
    fsInfo: { disks: filesystems(listOf(isJsonObject(fsInfo) ? fsInfo["disks"] : undefined)) },
    ...(root["fsFreezeStatus"] === "frozen" ? { fsFreezeStatus: "frozen" } : {}),
  };
}

/** VirtualMachineInstanceGuestOSUserList. */
export function readUserList(json: string): object {
  const items = users(parseList(json));
  return { apiVersion, kind: "VirtualMachineInstanceGuestOSUserList", metadata: {}, items };
}

/** VirtualMachineInstanceFileSystemList. */
export function readFilesystemList(json: string): object {
  const items = filesystems(parseList(json));
  return { apiVersion, kind: "VirtualMachineInstanceFileSystemList", metadata: {}, items };
}

function commands(value: unknown): object[] {
  return objects(listOf(value), MAX_COMMANDS).flatMap(({ name, enabled }) => {
    const known = text(name);
    return known === undefined || known === "" ? [] : [{ name: known, enabled: enabled === true }];
  });
}

function users(list: readonly unknown[]): object[] {
  return objects(list, MAX_USERS).flatMap((user) => {
    const userName = text(user["userName"]);
    if (userName === undefined || userName === "") return [];
    const login = user["loginTime"];
    const loginTime = typeof login === "number" && Number.isFinite(login) ? { loginTime: login } : {};
    return [{ userName, ...named("domain", user["domain"]), ...loginTime }];
  });
}

function filesystems(list: readonly unknown[]): object[] {
  return objects(list, MAX_FILESYSTEMS).flatMap((filesystem) => {
    const mountPoint = text(filesystem["mountPoint"]);
    if (mountPoint === undefined || mountPoint === "") return [];
    const disk = objects(listOf(filesystem["disk"]), MAX_DISKS).map((item) => ({
      ...named("serial", item["serial"]),
      busType: text(item["busType"]) ?? "",
    }));
    return [
      {
        diskName: text(filesystem["diskName"]) ?? "",
        mountPoint,
        fileSystemType: text(filesystem["fileSystemType"]) ?? "",
        usedBytes: count(filesystem["usedBytes"]),
        totalBytes: count(filesystem["totalBytes"]),
        ...(disk.length === 0 ? {} : { disk }),
      },
    ];
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objects(list: readonly unknown[], limit: number): JsonObject[] {
  return list.slice(0, limit).filter((item): item is JsonObject => isJsonObject(item));
}

function named(name: string, value: unknown): Record<string, string> {
  const known = text(value);
  return known === undefined || known === "" ? {} : { [name]: known };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
