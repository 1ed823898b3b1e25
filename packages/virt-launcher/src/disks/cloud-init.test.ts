import { describe, expect, it } from "vitest";
import { cloudInitFiles, type CloudInitKind } from "./cloud-init.ts";

const vmi = { metadata: { name: "web.x", namespace: "shop" }, spec: { domain: { devices: {} } } };
const data = { userData: undefined, networkData: undefined };
const metadata = (kind: CloudInitKind, publicKeys: readonly string[] = []) =>
  JSON.parse(Buffer.from(cloudInitFiles(kind, vmi, { ...data, publicKeys })[0]?.content ?? []).toString());

describe("cloudInitFiles", () => {
  it("names the guest", () => {
    expect(metadata("cloudInitNoCloud")).toEqual({ "instance-id": "web.x.shop", "local-hostname": "web" });
  });

  it("brings public keys, as each data source has them", () => {
    const keys = ["ssh-rsa A a", 'ssh-rsa B "b"'];
    expect(metadata("cloudInitNoCloud", keys)).toMatchObject({ "public-keys": { "0": keys[0], "1": keys[1] } });
    expect(metadata("cloudInitConfigDrive", keys)).toMatchObject({ public_keys: { "0": keys[0], "1": keys[1] } });
  });
});
