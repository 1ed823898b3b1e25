import { errors } from "@polyvirt/stack";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

interface Entry {
  name?: string | undefined;
  value?: string | undefined;
}

/** SMBIOS tables: what `dmidecode` shows in the guest. */
export function addSysinfo(domain: DomainSection, plan: MachinePlan): void {
  const mode = domain.requireChild("os").child("smbios")?.oneOf("mode", ["sysinfo", "emulate"]);
  for (const info of domain.children("sysinfos")) {
    if (info.oneOf("type", ["smbios", "fwcfg"]) === "fwcfg") {
      for (const entry of info.children("entries")) addFirmwareConfig(entry, plan);
      continue;
    }
    if (mode !== "sysinfo") throw info.refuse("type", "it has no effect unless os.smbios.mode is sysinfo");
    addTable(plan, "type=0", info.child("bios")?.children("entries") ?? []);
    addTable(plan, "type=1", info.child("system")?.children("entries") ?? []);
    for (const board of info.children("baseBoards")) addTable(plan, "type=2", board.children("entries"));
    addTable(plan, "type=3", info.child("chassis")?.children("entries") ?? []);
  }
}

function addTable(plan: MachinePlan, head: string, entries: readonly Section<Entry>[]): void {
  if (entries.length === 0) return;
  const values = entries.map((entry) => {
    const name = entry.requireText("name");
    if (!/^[a-z]+$/.test(name)) throw entry.refuse("name", "this is not the name of an SMBIOS field");
    return [name, entry.text("value")] as const;
  });
  plan.addKeyValues("-smbios", head, Object.fromEntries(values));
}

function addFirmwareConfig(entry: Section<Entry & { file?: string | undefined }>, plan: MachinePlan): void {
  const name = entry.requireText("name");
  const file = entry.text("file");
  const value = entry.text("value");
  if (file === undefined && value === undefined) {
    throw errors.StackDefinitionRefused(`read ${entry.path}: it needs a value or a file`);
  }
  plan.addKeyValues("-fw_cfg", `name=${name}`, file === undefined ? { string: value } : { file });
}
