import { readFile, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { writeCpio, type CpioEntry } from "./cpio.ts";
import { demoProfiles, type DemoArchitecture } from "./demo-architecture.ts";
import {
  dhcpScript,
  initScript,
  passwordScript,
  powerButtonScript,
  powerLineScript,
  shutdownScript,
  uptimeScript,
} from "./init-script.ts";
import { resolveModules } from "./kernel-modules.ts";

const folders =
  "bin dev etc etc/acpi etc/acpi/PWRF lib modules mnt proc root run sbin sys tmp usr usr/sbin var www www/cgi-bin".split(
    " ",
  );

/** The guest's whole system: busybox, the drivers, our scripts, and what else is given (the guest agent). */
export async function makeInitramfs(
  architecture: DemoArchitecture,
  root: string,
  extra: readonly CpioEntry[],
): Promise<Buffer> {
  const { drivers, optionalDrivers } = demoProfiles[architecture];
  const modulesRoot = join(root, "lib/modules");
  const release = (await readdir(modulesRoot))[0] ?? "";
  const modules = await resolveModules(join(modulesRoot, release), drivers, optionalDrivers);
  const entries: CpioEntry[] = [
    ...folders.map((path) => ({ type: "directory", path }) as const),
    executable("bin/busybox", await readFile(await findBusybox(root))),
    executable("init", Buffer.from(initScript)),
    executable("etc/acpi/PWRF/00000080", Buffer.from(powerButtonScript)),
    executable("etc/power-line", Buffer.from(powerLineScript)),
    executable("etc/udhcpc.script", Buffer.from(dhcpScript)),
    executable("sbin/chpasswd", Buffer.from(passwordScript)),
    executable("sbin/shutdown", Buffer.from(shutdownScript)),
    executable("www/cgi-bin/uptime", Buffer.from(uptimeScript)),
    plainFile("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"),
    plainFile("etc/shadow", "root:*:19000:0:99999:7:::\n"),
    plainFile("etc/group", "root:x:0:\n"),
    plainFile("etc/demo-arch", `${architecture}\n`),
    plainFile(
      "etc/os-release",
      'ID=polyvirt-demo\nNAME="Polyvirt demo guest"\nPRETTY_NAME="Polyvirt demo guest"\nVERSION_ID=1\n',
    ),
    plainFile("modules/order", modules.map((module) => `${basename(module.path)}\n`).join("")),
    ...extra,
  ];
  for (const module of modules) {
    const content = await readFile(module.path);
    entries.push({ type: "file", path: `modules/${basename(module.path)}`, content, mode: 0o644 });
  }
  return gzipSync(writeCpio(entries), { level: 9 });
}

async function findBusybox(root: string): Promise<string> {
  for (const folder of ["bin", "usr/bin"]) {
    const files: string[] = await readdir(join(root, folder)).catch(() => []);
    if (files.includes("busybox")) return join(root, folder, "busybox");
  }
  return join(root, "bin/busybox");
}

function executable(path: string, content: Uint8Array): CpioEntry {
  return { type: "file", path, content, mode: 0o755 };
}

function plainFile(path: string, text: string): CpioEntry {
  return { type: "file", path, content: Buffer.from(text), mode: 0o644 };
}
