import type { CloudInitNoCloudSource, Volume } from "@polyvirt/api";
import { checkDnsLabel } from "@polyvirt/core";
import { bytesOf, isQuantity } from "../quantity.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

/** What cloud-init's data may be long when it stands in the object itself. */
const maxCloudInitBytes = 2048;

/** Volumes that are not shown to the guest as a disk or file system. */
const withoutDisk = ["memoryDump", "downwardMetrics"] as const satisfies readonly (keyof Volume)[];

function checkNames({ spec, field }: Subject, report: Report): void {
  const first = new Map<string, number>();
  for (const [index, { name }] of (spec.volumes ?? []).entries()) {
    const at = `${field}.volumes[${index}]`;
    const problems = checkDnsLabel(name);
    if (problems.length > 0) report.invalid(`${at}.name`, `${at}.name '${name}' is invalid: ${problems.join(", ")}`);
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else report.invalid(`${at}.name`, `${at} and ${field}.volumes[${earlier}] must not have the same Name.`);
  }
}

function checkMapping({ spec, field }: Subject, report: Report): void {
  const { disks = [], filesystems = [] } = spec.domain.devices;
  const used = new Set([...disks, ...filesystems].map(({ name }) => name));
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    if (used.has(volume.name) || withoutDisk.some((source) => volume[source] !== undefined)) continue;
    report.invalid(`${field}.volumes[${index}].name`, `${field}.volumes[${index}].name '${volume.name}' not found.`);
  }
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  for (const [index, { name }] of filesystems.entries()) {
    const at = `${field}.domain.devices.filesystems[${index}].name`;
    if (!volumes.has(name)) report.invalid(at, `${at} '${name}' not found.`);
  }
}

function checkSources({ spec, field }: Subject, report: Report): void {
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const at = `${field}.volumes[${index}]`;
    const { name: _, ...sources } = volume;
    const given = Object.values(sources).filter((source) => source !== undefined);
    if (given.length !== 1) report.invalid(at, `${at} must have exactly one source type set`);
    checkSource(volume, at, report);
  }
}

function checkSource(volume: Volume, at: string, report: Report): void {
  if (volume.cloudInitNoCloud !== undefined) checkCloudInit(volume.cloudInitNoCloud, `${at}.cloudInitNoCloud`, report);
  if (volume.cloudInitConfigDrive !== undefined)
    checkCloudInit(volume.cloudInitConfigDrive, `${at}.cloudInitConfigDrive`, report);
  if (volume.dataVolume !== undefined && !volume.dataVolume.name)
    report.required(`${at}.name`, "DataVolume 'name' must be set");
  if (volume.persistentVolumeClaim !== undefined && !volume.persistentVolumeClaim.claimName) {
    report.required(`${at}.persistentVolumeClaim.claimName`, `${at}.persistentVolumeClaim.claimName must be set`);
  }
  if (volume.containerDisk !== undefined) checkContainerDisk(volume.containerDisk, `${at}.containerDisk`, report);
  if (volume.hostDisk !== undefined) checkHostDisk(volume.hostDisk, `${at}.hostDisk`, report);
  if (volume.emptyDisk !== undefined) {
    const { capacity } = volume.emptyDisk;
    if (!isQuantity(capacity) || bytesOf(capacity) <= 0) {
      report.invalid(
        `${at}.emptyDisk.capacity`,
        `${at}.emptyDisk.capacity '${capacity}': must be a quantity greater than 0.`,
      );
    }
  }
  if (volume.containerPath !== undefined && !isCleanAbsolutePath(volume.containerPath.path)) {
    report.invalid(`${at}.containerPath.path`, `${at}.containerPath.path must be an absolute path without '..'`);
  }
}

function checkCloudInit(source: CloudInitNoCloudSource, at: string, report: Report): void {
  const inline = { userData: source.userData, userDataBase64: source.userDataBase64 };
  const user = [...Object.values(inline), source.secretRef].filter((value) => value !== undefined && value !== "");
  const network = [source.networkData, source.networkDataBase64, source.networkDataSecretRef].filter(
    (value) => value !== undefined && value !== "",
  );
  if (user.length > 1) report.invalid(at, `${at} must have only one userdatasource set.`);
  if (network.length > 1) report.invalid(at, `${at} must have only one networkdata source set.`);
  if (user.length === 0 && network.length === 0) {
    report.invalid(at, `${at} must have at least one userdatasource or one networkdatasource set.`);
  }
  const size = Math.max(
    byteLength(source.userData),
    Math.floor(((source.userDataBase64 ?? "").replaceAll("=", "").length * 3) / 4),
  );
  if (size > maxCloudInitBytes) {
    report.invalid(
      at,
      `${at} userdata exceeds ${maxCloudInitBytes} byte limit. Should use UserDataSecretRef for larger data.`,
    );
  }
  const networkSize = Math.max(
    byteLength(source.networkData),
    Math.floor(((source.networkDataBase64 ?? "").replaceAll("=", "").length * 3) / 4),
  );
  if (networkSize > maxCloudInitBytes) {
    report.invalid(
      at,
      `${at} networkdata exceeds ${maxCloudInitBytes} byte limit. Should use NetworkDataSecretRef for larger data.`,
    );
  }
  for (const name of ["userDataBase64", "networkDataBase64"] as const) {
    const text = source[name];
    if (text && !/^[A-Za-z0-9+/]*={0,2}$/.test(text.replaceAll(/\s/g, ""))) {
      report.invalid(`${at}.${name}`, `${at}.${name} is not a valid base64 value.`);
    }
  }
}

const byteLength = (text: string | undefined): number => new TextEncoder().encode(text ?? "").length;

/** No way out of the folder it is looked up in. */
function isCleanAbsolutePath(path: string): boolean {
  return path.startsWith("/") && !path.split("/").includes("..");
}

function checkContainerDisk({ image, path }: NonNullable<Volume["containerDisk"]>, at: string, report: Report): void {
  if (!image) report.required(`${at}.image`, `${at}.image must be set`);
  if (path && (!isCleanAbsolutePath(path) || path.endsWith("/"))) {
    report.invalid(`${at}.path`, `${at}.path must be an absolute path to a file without relative elements`);
  }
}

function checkHostDisk({ path, type }: NonNullable<Volume["hostDisk"]>, at: string, report: Report): void {
  if (!path) report.notFound(`${at}.path`, `${at}.path is required for hostDisk volume`);
  else if (!isCleanAbsolutePath(path)) report.invalid(`${at}.path`, `${at}.path must be an absolute path without '..'`);
  if (!["Disk", "DiskOrCreate"].includes(type)) {
    report.invalid(`${at}.type`, `${at}.type has invalid value '${type}', allowed are 'Disk' or 'DiskOrCreate'`);
  }
}

export const volumeRules: readonly ValidationRule[] = [
  { name: "volume-names", check: checkNames },
  { name: "volume-sources", check: checkSources },
  { name: "volume-mapping", check: checkMapping },
];
