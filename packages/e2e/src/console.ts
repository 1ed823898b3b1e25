import { spawn } from "node:child_process";
import { join } from "node:path";
import { repositoryRoot, type TestCluster } from "./cluster.ts";

interface ConsoleOptions {
  /** What to type once the guest is ready. */
  readonly input: string;
  /** What its answer looks like. */
  readonly until: RegExp;
  readonly limitMs?: number;
}

/**
 * Attaches as a user would and returns everything shown until the pattern matches. The guest may still be booting, or may
 * have said hello before we came: like a person, we ask again until it answers.
 */
export function typeInConsole(cluster: TestCluster, name: string, options: ConsoleOptions): Promise<string> {
  const { input, until, limitMs = 90_000 } = options;
  return new Promise((resolve, reject) => {
    const args = ["console", name, "--data-dir", cluster.dataDir];
    const child = spawn(join(repositoryRoot, "polyvirt"), args, { stdio: ["pipe", "pipe", "pipe"] });
    let text = "";
    const asking = setInterval(() => {
      child.stdin.write(text.includes("Polyvirt guest is ready.") ? input : "cat /run/greeting\n");
    }, 1000);
    const limit = setTimeout(() => finish(new Error(`the console did not show ${until}; it showed: ${text}`)), limitMs);
    const finish = (error?: Error): void => {
      clearInterval(asking);
      clearTimeout(limit);
      child.kill("SIGKILL");
      if (error === undefined) resolve(text);
      else reject(error);
    };
    child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (until.test(text)) finish();
    });
    // The program may end between two questions; its exit is reported below.
    child.stdin.on("error", () => undefined);
    child.on("error", finish);
    child.on("exit", (code) => finish(new Error(`polyvirt console ended with ${code}: ${text}`)));
  });
}

/** Everything that the guest has written to its serial console, from its launcher's pod; empty before there is one. */
export async function serialLog(cluster: TestCluster, name: string): Promise<string> {
  const pods = await cluster.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.name}");
  const pod = pods.stdout.split(" ").find((candidate) => candidate.startsWith(`virt-launcher-${name}-`));
  if (pod === undefined) return "";
  const read = "cat /var/run/kubevirt-private/*/virt-serial0-log";
  return (await cluster.kubectl("exec", pod, "--", "sh", "-c", read)).stdout;
}
