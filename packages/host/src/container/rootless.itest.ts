import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const nobody = 65534;
const script = fileURLToPath(new URL("../testing/rootless-container.ts", import.meta.url));
const loader = createRequire(import.meta.url).resolve("tsx");

let directory = os.tmpdir();
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "rootless-"));
  fs.chownSync(directory, nobody, nobody);
});
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));

function asNobody(program: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const command = [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", program, ...args];
  const env = { PATH: "/usr/sbin:/usr/bin:/bin", TMPDIR: directory, HOME: directory };
  return spawnSync("setpriv", command, { encoding: "utf8", cwd: "/", env });
}

const possible =
  process.getuid?.() === 0 &&
  asNobody("test", "-r", script).status === 0 &&
  asNobody("unshare", "--user", "--map-root-user", "--mount", "true").status === 0;

describe.skipIf(!possible)("a container of an ordinary user", () => {
  function run(command: string): { exitCode: number; output: string; setupError?: string } {
    const { stdout, stderr } = asNobody(process.execPath, "--import", loader, script, directory, command);
    if (stdout === "") throw new Error(stderr);
    // The script prints exactly this.
    return JSON.parse(stdout) as { exitCode: number; output: string; setupError?: string };
  }

  it("has its own root, processes, name and volumes", () => {
    const result = run("id -u; echo $$; hostname; echo kept > /volume/file; touch /usr/own && echo own; exit 6");
    expect(result.setupError).toBeUndefined();
    expect(result).toMatchObject({ exitCode: 6, output: "0\n1\ninside\nown\n" });
    expect(fs.readFileSync(path.join(directory, "file"), "utf8")).toBe("kept\n");
    expect(fs.statSync(path.join(directory, "file")).uid).toBe(nobody);
    expect(fs.existsSync("/usr/own")).toBe(false);
  });

  it("has volumes also where only root of the machine could make a place for them", () => {
    const result = run("cat /var/lib/made/deep/script /etc/ssl/made; echo; ls /var/lib/dpkg/status /etc/ssl/certs -d");
    expect(result.setupError).toBeUndefined();
    const [first, second] = result.output.split("\n");
    expect(first).toContain("cat /var/lib/made/deep/script /etc/ssl/made");
    expect(second).toBe("/etc/ssl/certs");
  });

  it("says why it cannot be made where the kernel does not let us", () => {
    // Root without any capability may not make namespaces.
    const powerless = ["--bounding-set=-all", "--inh-caps=-all", "--", process.execPath, "--import", loader, script];
    const own = path.join(directory, "powerless");
    fs.mkdirSync(own);
    fs.chownSync(directory, 0, 0);
    const env = { PATH: "/usr/sbin:/usr/bin:/bin", TMPDIR: own, HOME: own };
    const { stdout } = spawnSync("setpriv", [...powerless, own, "true"], { encoding: "utf8", cwd: "/", env });
    expect(JSON.parse(stdout)).toMatchObject({
      phase: "exited",
      setupError: expect.stringMatching(/unshare failed: .*Operation not permitted.*containers need/s),
    });
  });

  it("reads no more than its user may", () => {
    expect(run("cat /etc/shadow 2>/dev/null || echo refused").output).toBe("refused\n");
  });
});
