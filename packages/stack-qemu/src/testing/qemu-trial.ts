import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Domain } from "@polyvirt/domain";

/** Names of the machines that an emulator knows. */
export function machinesOf(emulator: string): ReadonlySet<string> {
  const lines = execFileSync(emulator, ["-machine", "help"], { encoding: "utf8" }).split("\n").slice(1);
  return new Set(lines.map((line) => line.split(" ")[0] ?? ""));
}

/** The same machine without KVM, which the machine that runs the test may not have, and in a version that QEMU knows. */
export function emulated(domain: Domain, machines: ReadonlySet<string>): Domain {
  const { hyperv: _hyperv, kvm: _kvm, pvspinlock: _spinlock, pmu: _pmu, ...features } = domain.features ?? {};
  const custom = (domain.cpu?.mode ?? "custom") === "custom";
  const cpu: Domain["cpu"] = custom ? domain.cpu : { ...domain.cpu, mode: "maximum", features: undefined };
  const type = domain.os?.type;
  const given = type?.machine;
  const known = given === undefined || machines.has(given);
  const machine = known ? given : given.replace(/^pc-q35-.*|^(pc|virt|s390-ccw-virtio)-.*/, (_, kind) => kind ?? "q35");
  return {
    ...domain,
    type: "qemu",
    features: domain.features === undefined ? undefined : features,
    cpu,
    os: { ...domain.os, type: { ...type, machine } },
    devices: { ...domain.devices, emulator: undefined },
  };
}

/** Starts QEMU as a test can: with small files in place of disks, sockets of its own, and no memory set aside. */
export class QemuTrial {
  readonly #folder: string;
  readonly #images: Readonly<Record<string, string>>;
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#images = { raw: join(folder, "image.raw"), qcow2: join(folder, "image.qcow2") };
    for (const [format, path] of Object.entries(this.#images)) {
      execFileSync("qemu-img", ["create", "-q", "-f", format, path, "64M"]);
    }
  }

  /** QEMU's answer: nothing when it came up with stopped CPUs and answered its monitor, otherwise its last words. */
  async start(emulator: string, args: readonly string[]): Promise<string> {
    const own = mkdtempSync(join(this.#folder, "run-"));
    try {
      return await run(emulator, [...this.#localize(args, own), "-S", "-qmp", "stdio"]);
    } finally {
      rmSync(own, { recursive: true });
    }
  }

  #localize(args: readonly string[], folder: string): string[] {
    const next = (): string => join(folder, `f${(this.#count += 1)}`);
    const nodes = args.flatMap((arg, index) => (args[index - 1] === "-blockdev" ? [parse(arg)] : []));
    return args.map((arg, index) => {
      switch (args[index - 1] ?? "") {
        case "-blockdev": {
          const node = parse(arg);
          if (node["driver"] !== "file" && node["driver"] !== "host_device") return arg;
          const above = nodes.find((other) => other["file"] === node["node-name"]);
          const filename = next();
          copyFileSync(this.#images[String(above?.["driver"])] ?? "", filename);
          return JSON.stringify({ ...node, driver: "file", filename, "pr-manager": undefined });
        }
        case "-chardev":
          return arg.replaceAll(/(path|logfile)=[^,]+/g, (_, key) => `${key}=${next()}`);
        case "-vnc":
          return `unix:${next()}`;
        case "-kernel":
        case "-initrd": {
          const file = next();
          writeFileSync(file, Buffer.alloc(4096));
          return file;
        }
        case "-netdev": {
          const { type, id } = parse(arg);
          return type === "tap" ? JSON.stringify({ type: "user", id }) : arg;
        }
        case "-object": {
          const given = parse(arg);
          const file = given["qom-type"] === "memory-backend-file" ? { "mem-path": folder } : {};
          return JSON.stringify({ ...given, ...file, prealloc: undefined, hugetlb: undefined, hugetlbsize: undefined });
        }
        case "-overcommit":
          return "mem-lock=off";
        default:
          return arg;
      }
    });
  }
}

function parse(arg: string): Record<string, unknown> {
  return JSON.parse(arg) as Record<string, unknown>;
}

/** More time than a start with stopped CPUs takes on a busy machine. */
const limitMs = 30_000;

function run(emulator: string, args: readonly string[]): Promise<string> {
  return new Promise((done) => {
    const child = spawn(emulator, args, { stdio: "pipe", timeout: limitMs, killSignal: "SIGKILL" });
    let [out, err] = ["", ""];
    // A QEMU that has refused its arguments does not read.
    child.stdin.on("error", () => undefined);
    child.stdin.write('{"execute":"qmp_capabilities"}\n{"execute":"quit"}\n');
    child.stdout.on("data", (data: Buffer) => (out += data.toString()));
    child.stderr.on("data", (data: Buffer) => (err += data.toString()));
    child.once("close", (code, signal) => {
      const words = err
        .trim()
        .split("\n")
        .findLast((line) => !line.includes("warning"));
      const up = code === 0 && out.includes('"return"');
      done(up ? "" : (words ?? `ended with ${code ?? signal}`));
    });
  });
}
