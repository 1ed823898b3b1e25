import { errors } from "@polyvirt/stack";
import type { Domain } from "@polyvirt/domain";
import { addBalloon } from "./balloon.ts";
import { addBootOrder } from "./boot-order.ts";
import { addChannels } from "./channel.ts";
import { addClock } from "./clock.ts";
import { addControllers, type Buses } from "./controller.ts";
import { addCpu } from "./cpu.ts";
import { addDisk } from "./disk.ts";
import { addFeatures } from "./features.ts";
import { addFilesystems } from "./filesystem.ts";
import { addGraphics } from "./graphics.ts";
import { addHostDevices } from "./host-device.ts";
import { addInputs } from "./input.ts";
import { addInterfaces } from "./interface.ts";
import { addIommus } from "./iommu.ts";
import { addLaunchSecurity } from "./launch-security.ts";
import { addLifecycleActions } from "./lifecycle-actions.ts";
import {
  MachinePlan,
  type AfterStart,
  type Companion,
  type DeviceProperties,
  type DomainSection,
  type HostNeed,
  type MachineHost,
  type ThreadPlacement,
} from "./machine-plan.ts";
import { addMemoryDevices } from "./memory-device.ts";
import { addMemory } from "./memory.ts";
import { keyValues } from "./option.ts";
import { addOs, readMachine } from "./os.ts";
import { addPowerManagement } from "./power-management.ts";
import { addPanics } from "./panic.ts";
import { addRngs } from "./rng.ts";
import { Section } from "./section.ts";
import { addSerials } from "./serial.ts";
import { addSounds } from "./sound.ts";
import { addSysinfo } from "./sysinfo.ts";
import { addThreadPlacement } from "./thread-placement.ts";
import { addTpms } from "./tpm.ts";
import { addUsbHubs } from "./usb-hub.ts";
import { addUsbRedirection } from "./usb-redirection.ts";
import { addVideos } from "./video.ts";
import { addVsock } from "./vsock.ts";
import { addWatchdogs } from "./watchdog.ts";

export interface QemuCommand {
  readonly emulator: string;
  readonly args: readonly string[];
  /** Monitor commands to run before the guest may. */
  readonly afterStart: readonly AfterStart[];
  /** Files of the host that must be there. */
  readonly needs: readonly HostNeed[];
  /** Programs to start before QEMU. */
  readonly companions: readonly Companion[];
  /** CPUs of the host for the machine's threads. */
  readonly placement: ThreadPlacement;
  /** What a device that is added later has to fit into. */
  readonly hardware: Hardware;
}

export interface Hardware {
  readonly plan: MachinePlan;
  readonly buses: Buses;
}

/**
 * The machine definition as QEMU's arguments. Whatever the definition says that has no place in them is refused, all of
 * it at once and by path: a machine is what its definition says, or it does not start.
 */
export function buildArguments(definition: Domain, host: MachineHost): QemuCommand {
  const domain = new Section<Domain>({ ...definition, devices: definition.devices ?? {} });
  const architecture = readMachine(domain);
  const virtType = domain.oneOf("type", ["qemu", "kvm", "hyperv"]);
  if (virtType === undefined) throw errors.StackDefinitionRefused("read type: it must be qemu, kvm or hyperv");
  const plan = new MachinePlan(architecture, virtType, host);
  const emulator = domain.requireChild("devices").text("emulator") ?? architecture.emulator;
  if (!/^\/[A-Za-z0-9._/-]+$/.test(emulator)) {
    throw errors.StackDefinitionRefused("read devices.emulator: it must be an absolute path of plain characters");
  }

  addIdentity(domain, plan);
  addBootOrder(domain, plan);
  for (const add of machineParts) add(domain, plan);
  const buses = addDevices(domain, plan);
  const passthrough = commandline(domain);
  refuseUnread(domain);
  const args = [...baseArguments, ...plan.write(), ...passthrough];
  const { afterStart, needs, companions, placement } = plan;
  return { emulator, args, afterStart, needs, companions, placement, hardware: { plan, buses } };
}

const machineParts = [
  addMemory,
  addCpu,
  addFeatures,
  addClock,
  addOs,
  addSysinfo,
  addLifecycleActions,
  addPowerManagement,
  addLaunchSecurity,
  addIothreads,
  addThreadPlacement,
] as const;

/** No file of the host and no default device gets into the machine, and QEMU gives up rights that it will not need. */
const baseArguments = [
  "-no-user-config",
  "-nodefaults",
  "-sandbox",
  "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
  "-msg",
  "timestamp=on",
] as const;

function addIdentity(domain: DomainSection, plan: MachinePlan): void {
  plan.addOption("-name", keyValues(`guest=${domain.requireText("name")}`, { "debug-threads": true }));
  const uuid = uuidOf(domain, "uuid");
  if (uuid !== undefined) plan.addOption("-uuid", uuid);
  const genid = uuidOf(domain, "genid");
  if (genid !== undefined) plan.addDevice("vmgenid", { id: "vmgenid0", guid: genid });
  // For people and for tools that read definitions; namespace declarations are in $attributes.
  domain.skip("title", "description", "metadata", "id", "$attributes", "$prefix");
  // The pod's place in the node's hierarchy is Kubernetes' matter.
  domain.child("resource")?.skip("partition");
  // The launcher's pod is the security boundary; there are no labels to change.
  domain.skip("seclabels");
}

/** libvirt takes it without dashes, too; QEMU does not. */
function uuidOf(domain: DomainSection, key: "uuid" | "genid"): string | undefined {
  const text = domain.text(key);
  if (text === undefined) return undefined;
  const parts = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i.exec(text);
  if (parts === null) throw domain.refuse(key, "this is not a UUID");
  return parts.slice(1).join("-");
}

function addIothreads(domain: DomainSection, plan: MachinePlan): void {
  const listed = domain.child("iothreadids")?.children("iothreads") ?? [];
  const threads = new Map<number, DeviceProperties>();
  for (const thread of listed) {
    const poll = thread.child("poll");
    threads.set(thread.number("id") ?? 0, {
      "poll-max-ns": poll?.number("max"),
      "poll-grow": poll?.number("grow"),
      "poll-shrink": poll?.number("shrink"),
      "thread-pool-min": thread.number("threadPoolMin"),
      "thread-pool-max": thread.number("threadPoolMax"),
    });
  }
  const count = domain.number("iothreads") ?? threads.size;
  for (let next = 1; threads.size < count; next += 1) if (!threads.has(next)) threads.set(next, {});
  for (const [number, properties] of threads) plan.addObject("iothread", `iothread${number}`, properties);
}

function addDevices(domain: DomainSection, plan: MachinePlan): Buses {
  addIommus(domain, plan);
  const buses = addControllers(domain, plan);
  addUsbHubs(domain, buses, plan);
  for (const [index, disk] of domain.requireChild("devices").children("disks").entries())
    addDisk(disk, index, buses, plan);
  addInterfaces(domain, plan);
  addSerials(domain, buses, plan);
  addChannels(domain, plan);
  addGraphics(domain, plan);
  addVideos(domain, plan);
  addInputs(domain, buses, plan);
  addRngs(domain, plan);
  addBalloon(domain, plan);
  addWatchdogs(domain, plan);
  addPanics(domain, plan);
  addSounds(domain, buses, plan);
  addTpms(domain, plan);
  addVsock(domain, plan);
  addFilesystems(domain, plan);
  addHostDevices(domain, buses, plan);
  addUsbRedirection(domain, buses, plan);
  addMemoryDevices(domain, plan);
  return buses;
}

/** Arguments that a definition gives QEMU word for word; whoever writes definitions is trusted with that. */
function commandline(domain: DomainSection): string[] {
  const given = domain.child("qemuCommandline");
  // How the definition spells the namespace.
  given?.skip("$attributes", "$prefix");
  return (given?.children("args") ?? []).map((arg) => arg.requireText("value"));
}

/** SAFETY net of the whole translation: what nobody has read, QEMU would not get. */
export function refuseUnread<T extends object>(section: Section<T>): void {
  const paths = section.unread();
  if (paths.length === 0) return;
  const shown = paths.slice(0, 10).join(", ") + (paths.length > 10 ? ` and ${paths.length - 10} more` : "");
  throw errors.StackDefinitionRefused(
    `express the definition in QEMU's arguments: the qemu stack does not support ${shown}; leave it out or use another stack`,
    { fields: { paths } },
  );
}
