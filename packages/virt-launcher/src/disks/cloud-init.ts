import type { VirtualMachineInstance } from "@polyvirt/api";
import type { IsoFile } from "./iso-image.ts";

/** What a guest is given for its first boot. */
export interface CloudInitData {
  readonly userData: Uint8Array | undefined;
  readonly networkData: Uint8Array | undefined;
  /** Public SSH keys for the user that the image has for logging in. */
  readonly publicKeys?: readonly string[];
}

export const cloudInitLabels = { cloudInitNoCloud: "cidata", cloudInitConfigDrive: "config-2" } as const;
export type CloudInitKind = keyof typeof cloudInitLabels;

/** The files of a cloud-init disk, in the layout of its data source. */
export function cloudInitFiles(kind: CloudInitKind, vmi: VirtualMachineInstance, data: CloudInitData): IsoFile[] {
  const { name = "", namespace = "" } = vmi.metadata;
  const hostname = vmi.spec.hostname ?? name.split(".")[0] ?? name;
  const instanceId = `${name}.${namespace}`;
  if (kind === "cloudInitNoCloud") {
    const keys = numbered("public-keys", data.publicKeys);
    return [
      json("meta-data", { "instance-id": instanceId, "local-hostname": hostname, ...keys }),
      // An empty file keeps cloud-init from looking elsewhere.
      { path: "user-data", content: data.userData ?? new Uint8Array() },
      ...file("network-config", data.networkData),
    ];
  }
  const uuid = vmi.spec.domain.firmware?.uuid ?? instanceId;
  const keys = numbered("public_keys", data.publicKeys);
  const metadata = { instance_id: instanceId, hostname, local_hostname: hostname, uuid, ...keys };
  return [
    json("openstack/latest/meta_data.json", metadata),
    ...file("openstack/latest/user_data", data.userData),
    ...file("openstack/latest/network_data.json", data.networkData),
  ];
}

/** Both data sources name keys by number. */
function numbered(name: string, keys: readonly string[] = []): Record<string, Record<string, string>> {
  return keys.length === 0 ? {} : { [name]: Object.fromEntries(keys.map((key, index) => [String(index), key])) };
}

function file(path: string, content: Uint8Array | undefined): IsoFile[] {
  return content === undefined ? [] : [{ path, content }];
}

function json(path: string, value: object): IsoFile {
  return { path, content: Buffer.from(`${JSON.stringify(value)}\n`) };
}
