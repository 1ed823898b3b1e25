import { mkdir, writeFile } from "node:fs/promises";
import type { VolumeLocation } from "@polyvirt/hypervisor";
import { cloudInitKeys } from "../access-credentials/credential-plan.ts";
import { readCredentialSecret } from "../access-credentials/credential-secrets.ts";
import { cloudInitFiles, cloudInitLabels, type CloudInitKind } from "./cloud-init.ts";
import { writeIsoImage, type IsoFile } from "./iso-image.ts";
import { readMountedFile, readMountedFiles } from "./mounted-files.ts";
import type { VolumeRequest } from "./volume-request.ts";

/** Data for the guest's first boot: from the VMI itself, or from Secrets that are mounted into the pod. */
export async function prepareCloudInit(request: VolumeRequest, kind: CloudInitKind): Promise<VolumeLocation> {
  const { vmi, volume, paths } = request;
  const source = volume[kind] ?? {};
  const secrets = `${paths.private}/secret/${volume.name}`;
  const userData =
    inline(source.userData, source.userDataBase64) ?? readMountedFile(`${secrets}/userdata`, ["userdata", "userData"]);
  const networkData =
    inline(source.networkData, source.networkDataBase64) ??
    readMountedFile(`${secrets}/networkdata`, ["networkdata", "networkData"]);
  const method = kind === "cloudInitNoCloud" ? "noCloud" : "configDrive";
  const publicKeys = cloudInitKeys(vmi, method, (secretName) => readCredentialSecret(paths, secretName));
  return writeDisk(request, cloudInitLabels[kind], cloudInitFiles(kind, vmi, { userData, networkData, publicKeys }));
}

function inline(text: string | undefined, base64: string | undefined): Uint8Array | undefined {
  if (text !== undefined && text !== "") return Buffer.from(text);
  return base64 !== undefined && base64 !== "" ? Buffer.from(base64, "base64") : undefined;
}

type FileVolumeKind = "configMap" | "secret" | "downwardAPI" | "serviceAccount" | "sysprep";

const folders = { configMap: "config-map", secret: "secret", downwardAPI: "downwardapi", sysprep: "sysprep" } as const;

/** The files of a volume that the kubelet filled, as they are when the guest starts. */
export function prepareFileVolume(request: VolumeRequest, kind: FileVolumeKind): Promise<VolumeLocation> {
  const { volume, field, paths } = request;
  const directory =
    kind === "serviceAccount" ? paths.serviceAccount : `${paths.private}/${folders[kind]}/${volume.name}`;
  return writeDisk(request, labelOf(volume, kind), readMountedFiles(directory, field));
}

function labelOf(volume: VolumeRequest["volume"], kind: FileVolumeKind): string {
  // Windows looks for its answer file on every disk; this name says to people what the disk is.
  if (kind === "sysprep") return "unattendCD";
  return (kind === "serviceAccount" ? undefined : volume[kind]?.volumeLabel) ?? "cfgdata";
}

async function writeDisk(
  { volume, paths }: VolumeRequest,
  label: string,
  files: readonly IsoFile[],
): Promise<VolumeLocation> {
  const directory = `${paths.ephemeralDisks}/file-disks`;
  const path = `${directory}/${volume.name}.iso`;
  await mkdir(directory, { recursive: true });
  // It may hold secrets; QEMU runs as the same user.
  await writeFile(path, writeIsoImage(label, files), { mode: 0o600 });
  return { kind: "file", path, format: "raw" };
}
