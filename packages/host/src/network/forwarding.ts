import * as fs from "node:fs";
import * as path from "node:path";

/** Gone after a restart of the machine, as the settings are. */
const recordDirectory = "/run/polyvirt/forwarding";

const settingOf = (link: string): string => `/proc/sys/net/ipv4/conf/${link}/forwarding`;

/**
 * Lets the machine carry packets that come in by this interface. What was off before is written down first.
 * SAFETY: only this interface's own setting; the name was checked to be one of the machine's.
 */
export function switchForwardingOn(link: string): void {
  if (fs.readFileSync(settingOf(link), "utf8").trim() === "1") return;
  fs.mkdirSync(recordDirectory, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(recordDirectory, link), "");
  fs.writeFileSync(settingOf(link), "1");
}

/** Switches off again what we have switched on, once no network of ours needs it any more. */
export async function restoreForwarding(): Promise<void> {
  const inUse = (await fs.promises.readdir("/sys/class/net")).some((name) => name.startsWith("pvbr-"));
  const links = await fs.promises.readdir(recordDirectory).catch(() => []);
  for (const link of links) {
    const exists = fs.existsSync(settingOf(link));
    if (exists && inUse) continue;
    if (exists) fs.writeFileSync(settingOf(link), "0");
    fs.rmSync(path.join(recordDirectory, link), { force: true });
  }
}
