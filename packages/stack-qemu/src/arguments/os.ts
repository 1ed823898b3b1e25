import { errors } from "@polyvirt/stack";
import type { Os } from "./definition-types.ts";
import { guestArchitecture, knownArchitectures, type GuestArchitecture } from "./architecture.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** Which machine and emulator: decided first, because the names of devices depend on it. */
export function readMachine(domain: DomainSection): GuestArchitecture {
  const type = domain.requireChild("os").requireChild("type");
  type.oneOf("value", ["hvm"]);
  const arch = type.text("arch") ?? "x86_64";
  const machine = type.text("machine");
  if (machine !== undefined && !/^[A-Za-z0-9._-]+$/.test(machine))
    throw type.refuse("machine", "this is not the name of a machine");
  const architecture = guestArchitecture(arch, machine);
  if (architecture === undefined)
    throw type.refuse("arch", `the qemu stack knows only ${knownArchitectures.join(", ")}`);
  if (machine !== undefined && !architecture.machines.test(machine))
    throw type.refuse("machine", `the qemu stack knows only ${architecture.defaultMachine} and the like for ${arch}`);
  return architecture;
}

/** What the machine boots: a kernel from files, firmware, boot order, SMBIOS. */
export function addOs(domain: DomainSection, plan: MachinePlan): void {
  const os = domain.requireChild("os");
  const kernel = os.text("kernel");
  if (kernel === undefined && (os.has("initrd") || os.has("cmdline"))) {
    throw errors.StackDefinitionRefused("read os: initrd and cmdline need a kernel");
  }
  for (const [option, key] of [
    ["-kernel", "kernel"],
    ["-initrd", "initrd"],
    ["-append", "cmdline"],
    ["-dtb", "dtb"],
  ] as const) {
    const value = os.text(key);
    if (value !== undefined && value !== "") plan.addOption(option, value);
  }
  addFirmware(os, plan);
  addBoot(os, plan);
  for (const table of os.child("acpi")?.children("tables") ?? []) {
    const type = table.oneOf("type", ["slic", "msdm"]);
    plan.addKeyValues("-acpitable", `file=${table.requireText("value")}`, {
      sig: type === undefined ? undefined : type.toUpperCase(),
    });
  }
}

type OsSection = Section<Os>;

function addFirmware(os: OsSection, plan: MachinePlan): void {
  const loader = os.child("loader");
  const nvram = os.child("nvram");
  if (os.has("firmware") && loader === undefined) {
    // The launcher looks for firmware files before the conversion and names them.
    throw os.refuse("firmware", "name the firmware's files in os.loader and os.nvram");
  }
  os.skip("firmware", "firmwareInfo");
  if (loader === undefined) return;
  const path = loader.requireText("value");
  if (loader.oneOf("type", ["pflash", "rom"]) !== "pflash") {
    plan.addOption("-bios", path);
    loader.skip("readonly", "format", "stateless");
    return;
  }
  loader.skip("stateless");
  addFlash(plan, "pflash0", path, loader.oneOf("format", ["raw", "qcow2"]) ?? "raw", loader.toggle("readonly") ?? true);
  plan.setMachine({ pflash0: "pflash0-format" });
  if (loader.toggle("secure") ?? false) {
    plan.addOption("-global", "driver=cfi.pflash01,property=secure,value=on");
  }
  const variables = nvram?.text("value");
  if (variables !== undefined) {
    // The launcher copies the template before the start.
    nvram?.skip("template", "templateFormat", "type");
    addFlash(plan, "pflash1", variables, nvram?.oneOf("format", ["raw", "qcow2"]) ?? "raw", false);
    plan.setMachine({ pflash1: "pflash1-format" });
  }
}

function addFlash(plan: MachinePlan, name: string, filename: string, driver: string, readOnly: boolean): void {
  plan.addBlockdev({
    driver: "file",
    filename,
    "node-name": `${name}-storage`,
    "read-only": readOnly,
    "auto-read-only": false,
  });
  plan.addBlockdev({ driver, file: `${name}-storage`, "node-name": `${name}-format`, "read-only": readOnly });
}

function addBoot(os: OsSection, plan: MachinePlan): void {
  const menu = os.child("bootmenu");
  plan.addKeyValues("-boot", "strict=on", {
    menu: menu?.toggle("enable"),
    "splash-time": menu?.number("timeout"),
    "reboot-timeout": rebootTimeout(os),
  });
  if (os.child("bios")?.toggle("useserial") ?? false) {
    if (plan.architecture.name !== "x86_64") throw os.refuse("bios", "only x86_64 firmware has a serial console");
    plan.setMachine({ graphics: false });
  }
}

/** Milliseconds until the firmware tries again; -1 never. */
function rebootTimeout(os: OsSection): string | undefined {
  const bios = os.child("bios");
  const text = bios?.text("rebootTimeout");
  if (text !== undefined && !/^(-1|\d{1,5})$/.test(text)) throw os.refuse("bios", "rebootTimeout must be -1 to 65535");
  return text;
}
