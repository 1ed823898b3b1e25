import type { Configurator } from "../contract.ts";
import { guestProfile } from "./profile.ts";

interface Entry {
  name: string;
  value: string;
}

const entriesOf = (values: Readonly<Record<string, string | undefined>>): Entry[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [{ name, value }]));

/** What the guest's firmware tables say about the machine. */
export const sysinfo: Configurator = {
  name: "sysinfo",
  configure(domain, vmi, context) {
    if (!guestProfile(vmi, context).smbios) return;
    const { firmware, chassis } = vmi.spec.domain;
    const { manufacturer, product, family, version, sku } = context.settings.smbios;
    const system = entriesOf({
      manufacturer,
      product,
      version,
      serial: firmware?.serial,
      uuid: firmware?.uuid,
      sku,
      family,
    });
    const chassisEntries = entriesOf({
      manufacturer: chassis?.manufacturer,
      version: chassis?.version,
      serial: chassis?.serial,
      asset: chassis?.asset,
      sku: chassis?.sku,
    });
    domain.sysinfos = [
      {
        type: "smbios",
        system: { entries: system },
        ...(chassisEntries.length === 0 ? {} : { chassis: { entries: chassisEntries } }),
      },
    ];
    domain.os.smbios = { mode: "sysinfo" };
  },
};
