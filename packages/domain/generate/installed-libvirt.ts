import { existsSync, readFileSync } from "node:fs";

/** Where Debian and others install libvirt's schemas. */
export const installedSchemas = "/usr/share/libvirt/schemas";

/** Version of the libvirt whose schemas are installed (`9.0.0`), as far as dpkg knows; for tests. */
export function installedVersion(): string | undefined {
  const status = "/var/lib/dpkg/status";
  if (!existsSync(`${installedSchemas}/domain.rng`) || !existsSync(status)) return undefined;
  return /^Package: libvirt0$[^]*?^Version: ([0-9.]+)/m.exec(readFileSync(status, "utf8"))?.[1];
}
