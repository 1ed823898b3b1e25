import type { VirtualMachineInstance } from "@polyvirt/api";
import type { IsoFile } from "./iso-image.ts";

/** What a guest is given for its first boot. */
export interface CloudInitData {
  readonly userData: Uint8Array | undefined;
  readonly networkData: Uint8Array | undefined;
}

export const cloudInitLabels = { cloudInitNoCloud: "cidata", cloudInitConfigDrive: "config-2" } as const;
export type CloudInitKind = keyof typeof cloudInitLabels;

/** The files of a cloud-init disk, in the layout of its data source. */
export function cloudInitFiles(kind: CloudInitKind, vmi: VirtualMachineInstance, data: CloudInitData): IsoFile[] {
  const { name = "", namespace = "" } = vmi.metadata;
  const hostname = vmi.spec.hostname ?? name.split(".")[0] ?? name;
  const instanceId = `${name}.${namespace}`;
  if (kind === "cloudInitNoCloud") {
    return [
      json("meta-data", { "instance-id": instanceId, "local-hostname": hostname }),
      // An empty file keeps cloud-init from looking elsewhere.
      { path: "user-data", content: data.userData ?? new Uint8Array() },
      ...file("network-config", data.networkData),
    ];
  }
  const uuid = vmi.spec.domain.firmware?.uuid ?? instanceId;
  return [
    json("openstack/latest/meta_data.json", { instance_id: instanceId, hostname, local_hostname: hostname, uuid }),
    ...file("openstack/latest/user_data", data.userData),
    ...file("openstack/latest/network_data.json", data.networkData),
  ];
}

function file(path: string, content: Uint8Array | undefined): IsoFile[] {
  return content === undefined ? [] : [{ path, content }];
}

function json(path: string, value: object): IsoFile {
  return { path, content: Buffer.from(`${JSON.stringify(value)}\n`) };
}
