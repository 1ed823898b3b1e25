import { checkSocketPath } from "./character-device.ts";
import type { Interface, PortForward } from "./definition-types.ts";
import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DeviceProperties, DomainSection, MachinePlan } from "./machine-plan.ts";
import { passtNetdev } from "./passt.ts";
import type { Section } from "./section.ts";

type InterfaceSection = Section<Interface>;

/** A network card in QEMU's terms: the host's side and the device. */
export interface InterfaceParts {
  readonly id: string;
  readonly netdev: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly device: DeviceProperties & { readonly driver: string };
  /** Whether the guest is to see an unplugged cable. */
  readonly linkDown: boolean;
}

export function addInterfaces(domain: DomainSection, plan: MachinePlan): void {
  for (const [index, device] of domain.requireChild("devices").children("interfaces").entries()) {
    const parts = buildInterface(device, `net${index}`, plan);
    plan.addNetdev(parts.netdev);
    const { driver, ...properties } = parts.device;
    plan.addDevice(driver, properties);
    if (parts.linkDown) plan.addAfterStart({ command: "set_link", args: { name: parts.id, up: false } });
  }
}

export function buildInterface(device: InterfaceSection, fallbackId: string, plan: MachinePlan): InterfaceParts {
  const id = deviceId(device, fallbackId, plan);
  const mac = device.child("mac");
  mac?.skip("type", "check");
  const address = mac?.text("address");
  if (address !== undefined && !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(address))
    throw device.refuse("mac", "this is not a MAC address");
  const driver = device.child("driver");
  const queues = driver?.number("queues");
  const netdev = hostSide(device, `host${id}`, queues, plan);
  const model = device.child("model")?.text("type") ?? (plan.architecture.name === "x86_64" ? "rtl8139" : "virtio");
  const rom = device.child("rom");
  const common: DeviceProperties = {
    id,
    netdev: netdev.id,
    mac: address,
    romfile: rom?.toggle("enabled") === false ? "" : rom?.text("file"),
    rombar: rom?.toggle("bar") === false ? 0 : undefined,
    ...placement(device, plan),
  };
  return {
    id,
    netdev,
    linkDown: device.child("link")?.oneOf("state", ["up", "down"]) === "down",
    device: { driver: cardDriver(device, model, plan), ...common, ...virtioCard(device, model, queues) },
  };
}

/** Cards other than virtio, by the definition's name for them. */
const otherCards: Readonly<Record<string, string>> = {
  e1000: "e1000",
  e1000e: "e1000e",
  rtl8139: "rtl8139",
  ne2k_pci: "ne2k_pci",
  pcnet: "pcnet",
};

function cardDriver(device: InterfaceSection, model: string, plan: MachinePlan): string {
  const virtio = virtioDriver(plan, "net", model);
  const driver = virtio.known ? virtio.driver : otherCards[model];
  if (driver === undefined) throw device.refuse("model", `the network card ${model.slice(0, 50)} is not known`);
  return driver;
}

function virtioCard(device: InterfaceSection, model: string, queues: number | undefined): DeviceProperties {
  const driver = device.child("driver");
  const mtu = device.child("mtu")?.number("size");
  if (!model.startsWith("virtio")) return {};
  return {
    host_mtu: mtu,
    ...(queues !== undefined && queues > 1 && { mq: true, vectors: 2 * queues + 2 }),
    rx_queue_size: driver?.number("rxQueueSize"),
    tx_queue_size: driver?.number("txQueueSize"),
    tx: txModes[driver?.oneOf("txmode", ["iothread", "timer"]) ?? "none"],
    ioeventfd: driver?.toggle("ioeventfd"),
    event_idx: driver?.toggle("eventIdx"),
    rss: driver?.toggle("rss"),
    hash: driver?.toggle("rssHashReport"),
    ...offloads(driver),
    ...virtioProperties(driver),
  };
}

const txModes: Readonly<Record<string, string>> = { iothread: "bh", timer: "timer" };

/** What the host's side and the guest's leave to each other. */
function offloads(driver: Section<NonNullable<Interface["driver"]>> | undefined): DeviceProperties {
  const [host, guest] = [driver?.child("host"), driver?.child("guest")];
  return {
    csum: host?.toggle("csum"),
    gso: host?.toggle("gso"),
    host_tso4: host?.toggle("tso4"),
    host_tso6: host?.toggle("tso6"),
    host_ecn: host?.toggle("ecn"),
    host_ufo: host?.toggle("ufo"),
    mrg_rxbuf: host?.toggle("mrgRxbuf"),
    guest_csum: guest?.toggle("csum"),
    guest_tso4: guest?.toggle("tso4"),
    guest_tso6: guest?.toggle("tso6"),
    guest_ecn: guest?.toggle("ecn"),
    guest_ufo: guest?.toggle("ufo"),
  };
}

function hostSide(
  device: InterfaceSection,
  id: string,
  queues: number | undefined,
  plan: MachinePlan,
): InterfaceParts["netdev"] {
  const vhost = device.child("driver")?.oneOf("name", ["vhost", "qemu"]) === "vhost";
  switch (device.oneOf("type", ["user", "ethernet", "vhostuser"])) {
    case "vhostuser":
      return vhostUser(device, id, queues, plan);
    case "ethernet": {
      const target = device.requireChild("target");
      // The node agent has made the tap device; QEMU only opens it.
      target.skip("managed");
      const queueCount = queues !== undefined && queues > 1 ? queues : undefined;
      return {
        type: "tap",
        id,
        ifname: target.requireText("dev"),
        script: "no",
        downscript: "no",
        vhost: vhost || undefined,
        queues: queueCount,
      };
    }
    case "user":
    case undefined: {
      if (device.child("backend")?.oneOf("type", ["default", "passt"]) === "passt")
        return passtNetdev(device, id, plan);
      const forwards = device.children("portForwards").flatMap(forwardRules);
      return { type: "user", id, hostfwd: forwards.length === 0 ? undefined : forwards };
    }
  }
}

/** A switch in another program, which reads and writes the guest's memory itself. */
function vhostUser(
  device: InterfaceSection,
  id: string,
  queues: number | undefined,
  plan: MachinePlan,
): InterfaceParts["netdev"] {
  if (!plan.sharedMemory) {
    throw device.refuse("type", "it needs guest memory that is shared (memoryBacking.access)");
  }
  const source = device.requireChild("source");
  source.oneOf("type", ["unix"]);
  const path = source.requireText("path");
  checkSocketPath(path, source.pathOf("path"));
  const listens = source.oneOf("mode", ["client", "server"]) === "server";
  const reconnect = source.child("reconnect");
  const again = reconnect?.toggle("enabled") ?? false;
  if (listens && again) throw source.refuse("reconnect", "only a client can connect again");
  const chardev = `char${id}`;
  plan.addChardev("socket", {
    id: chardev,
    path,
    server: listens || undefined,
    reconnect: again ? (reconnect?.number("timeout") ?? 1) : undefined,
  });
  if (!listens) plan.requireFile(path, `${device.path}: the switch does not listen`);
  return { type: "vhost-user", id, chardev, queues: queues !== undefined && queues > 1 ? queues : undefined };
}

/** Ports of the pod that lead into the guest. */
function forwardRules(forward: Section<PortForward>): { str: string }[] {
  const proto = forward.oneOf("proto", ["tcp", "udp"]) ?? "tcp";
  const address = forward.text("address") ?? "";
  if (address !== "" && !/^[0-9.]+$/.test(address))
    throw forward.refuse("address", "only an IPv4 address can be given");
  return forward.children("ranges").flatMap((range) => {
    const start = range.number("start") ?? 0;
    const end = range.number("end") ?? start;
    const to = range.number("to") ?? start;
    if (start < 1 || end > 65_535 || end < start || end - start > 1000)
      throw range.refuse("start", "this is not a range of ports");
    return Array.from({ length: end - start + 1 }, (_, offset) => ({
      str: `${proto}:${address}:${start + offset}-:${to + offset}`,
    }));
  });
}
