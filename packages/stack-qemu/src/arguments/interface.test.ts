import type { Domain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { bareMachine, optionsOf } from "../testing/build-devices.ts";
import { testHost } from "../testing/machine-host.ts";
import { buildArguments } from "./build-arguments.ts";

type Interfaces = NonNullable<Domain["devices"]>["interfaces"];
const shared: Partial<Domain> = { memoryBacking: { access: { mode: "shared" } } };

describe("network cards", () => {
  it("are what libvirt puts in where the definition names no model", () => {
    const interfaces: Interfaces = [{ type: "user" }];
    expect(optionsOf({ devices: { interfaces } }, "-device")).toMatchObject([{ driver: "rtl8139" }]);
    const os = { type: { value: "hvm", arch: "aarch64", machine: "virt" } } as const;
    expect(optionsOf({ os, devices: { interfaces } }, "-device")).toMatchObject([{ driver: "virtio-net-pci" }]);
  });

  it("say what each side leaves to the other", () => {
    const driver = { txmode: "timer", host: { csum: "off", mrgRxbuf: "on" }, guest: { tso4: "off" } } as const;
    const interfaces: Interfaces = [{ type: "user", model: { type: "virtio" }, driver }];
    expect(optionsOf({ devices: { interfaces } }, "-device")).toMatchObject([
      { tx: "timer", csum: false, mrg_rxbuf: true, guest_tso4: false },
    ]);
  });

  it("reach a switch in another program", () => {
    const source = { type: "unix", path: "/run/switch.sock", mode: "client" } as const;
    const card = { type: "vhostuser", source, model: { type: "virtio" }, driver: { queues: 2 } } as const;
    const part = { ...shared, devices: { interfaces: [card] } };
    expect(optionsOf(part, "-chardev")).toEqual(["socket,id=charhostnet0,path=/run/switch.sock"]);
    expect(optionsOf(part, "-netdev")).toEqual([
      { type: "vhost-user", id: "hostnet0", chardev: "charhostnet0", queues: 2 },
    ]);
    expect(buildArguments({ ...bareMachine, ...part }, testHost).needs).toMatchObject([{ path: "/run/switch.sock" }]);
    expect(() => optionsOf({ devices: { interfaces: [card] } }, "-netdev")).toThrow("memory that is shared");
  });
});
