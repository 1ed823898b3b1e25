import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Command } from "../command.ts";
import { capabilities } from "./capabilities.ts";
import { convert } from "./convert.ts";

async function run(command: Command, args: readonly string[], stdin = "") {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const context = { stdin: Readable.from([stdin]), stdout, stderr, env: {}, bundleDir: "", version: "0" };
  const code = await command.run(args, context);
  const read = (stream: PassThrough): string => (stream.read() as Buffer | null)?.toString() ?? "";
  return { code, stdout: read(stdout), stderr: read(stderr) };
}

const vmi = `
kind: VirtualMachineInstance
metadata: { name: web }
spec: { domain: { devices: {}, memory: { guest: 256Mi } } }
`;

describe("polyvirt convert", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "convert-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("prints the machine", async () => {
    const { code, stdout } = await run(convert, ["-", "--arch", "amd64"], vmi);
    expect(code).toBe(0);
    expect(stdout).toContain("<name>default_web</name>");
    expect(stdout).toContain("<type arch='x86_64' machine='q35'>hvm</type>");
  });

  it("takes another hypervisor and architecture", async () => {
    const { stdout } = await run(convert, ["-", "--hypervisor", "mshv", "--arch", "amd64"], vmi);
    expect(stdout).toContain("<domain type='hyperv'");
    expect((await run(convert, ["-", "--arch", "s390x"], vmi)).stdout).toContain("s390-ccw-virtio");
  });

  it("says what is wrong, all of it", async () => {
    const bad = vmi.replace("devices: {}", "devices: {}, machine: { type: pc }, cpu: { isolateEmulatorThread: true }");
    const { code, stdout, stderr } = await run(convert, ["-", "--arch", "amd64"], bad);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr.trim().split("\n")).toHaveLength(2);
  });

  it("explains who set what", async () => {
    const { stdout } = await run(convert, ["-", "--arch", "amd64", "--explain"], vmi);
    expect(stdout).toContain('/spec/domain/machine = {"type":"q35"}    (default architecture/machine-type)');
    expect(stdout).toContain("/cpu    (converter/cpu)");
    expect(stdout).toContain("/devices/serials    (converter/console)");
  });

  it("says what the launcher reserves beside guest memory", async () => {
    const { stdout } = await run(convert, ["-", "--arch", "amd64", "--explain"], vmi);
    expect(stdout).toMatch(/^vcpus {4}8 Mi$/m);
    expect(stdout).toMatch(/^graphics {4}32 Mi$/m);
  });

  it("shows what QEMU would be started with", async () => {
    const { code, stdout } = await run(convert, ["-", "--arch", "amd64", "--stack", "qemu", "--output", "args"], vmi);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\/usr\/bin\/qemu-system-x86_64 \\\n {2}-no-user-config \\\n/);
    expect(stdout).toMatch(/^ {2}-name guest=default_web,/m);
    const alone = await run(convert, ["-", "--arch", "amd64", "--output", "args"], vmi);
    expect(alone.stdout).toMatch(/^\/usr\/bin\/qemu-system-x86_64 /);
  });

  it("asks the stack whether it can run the machine", async () => {
    const iommu = `
kind: KubeVirt
metadata: { name: kubevirt }
spec: { configuration: { developerConfiguration: { featureGates: [IOMMUFD, HostDevices] } } }
`;
    const file = join(folder, "iommufd.yaml");
    await writeFile(file, iommu);
    const device = vmi.replace("devices: {}", "devices: { hostDevices: [{ name: h, deviceName: vendor.com/h }] }");
    const common = ["-", "--arch", "amd64", "--config", file];
    expect((await run(convert, [...common, "--stack", "libvirt"], device)).stdout).toContain("<iommufd enabled='yes'");
    const { code, stderr } = await run(convert, [...common, "--stack", "qemu"], device);
    expect(code).toBe(1);
    expect(stderr).toContain("the stack refuses the machine");
    expect(stderr).toContain("iommufd");
  });

  it("names the stacks and forms that there are", async () => {
    await expect(run(convert, ["-", "--stack", "xen"], vmi)).rejects.toThrow("--stack must be one of libvirt, qemu");
    await expect(run(convert, ["-", "--stack", "libvirt", "--output", "args"], vmi)).rejects.toThrow(
      "--output with stack libvirt must be one of xml",
    );
  });

  it("knows the hypervisor of a module", async () => {
    const module = fileURLToPath(new URL("../../../../examples/hypervisors/sample/sample.ts", import.meta.url));
    const args = ["--hypervisor-module", module, "--hypervisor", "sample", "--arch", "amd64"];
    expect((await run(convert, ["-", ...args], vmi)).stdout).toContain("<title>runs on sample</title>");
    expect((await run(capabilities, args)).stdout).toContain("sample/amd64 launch-security.sev unsupported");
    await expect(run(convert, ["-", "--hypervisor-module", "./gone.js"], vmi)).rejects.toThrow(
      "load hypervisor from ./gone.js: the module cannot be imported",
    );
  });

  it("uses the cluster's configuration, and reads the template of a VM", async () => {
    const config = join(folder, "kubevirt.yaml");
    await writeFile(
      config,
      "kind: KubeVirt\nspec: { configuration: { architectureConfiguration: { amd64: { machineType: pc-q35-9.0 } } } }\n",
    );
    const vm =
      "kind: VirtualMachine\nmetadata: { name: web }\nspec: { template: { spec: { domain: { devices: {}, memory: { guest: 64Mi } } } } }\n";
    const { stdout } = await run(convert, ["-", "--arch", "amd64", "--config", config], vm);
    expect(stdout).toContain("machine='pc-q35-9.0'");
  });

  it("refuses a file without a machine", async () => {
    await expect(run(convert, ["-"], "kind: Pod\n")).rejects.toThrow("has no VirtualMachineInstance");
  });
});

describe("polyvirt capabilities", () => {
  it("lists what a platform cannot do", async () => {
    const { stdout } = await run(capabilities, ["--hypervisor", "mshv", "--arch", "amd64"]);
    expect(stdout).toContain("mshv/amd64 launch-security.sev unsupported\n");
    expect(stdout).not.toContain("kvm/");
  });

  it("has a form for people and one for programs", async () => {
    const detailed = await run(capabilities, ["--arch", "amd64", "--output", "detailed"]);
    expect(detailed.stdout).toContain("experimental, with feature gate VSOCK");
    const json = await run(capabilities, ["--output", "json"]);
    expect(Object.keys(JSON.parse(json.stdout))).toContain("kvm/s390x");
    await expect(run(capabilities, ["--output", "xml"])).rejects.toThrow("--output must be one of");
  });
});
