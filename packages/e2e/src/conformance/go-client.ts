import { join } from "node:path";
import { repositoryRoot } from "../cluster.ts";
import { run } from "../run.ts";
import type { Outcome } from "./compare.ts";
import type { Target } from "./targets/target.ts";

const program = join(repositoryRoot, "packages/e2e/clients/go");

/** Lists, watches and patches with Kubernetes' own Go client; it prints what it saw. */
export async function runClients(target: Target): Promise<Outcome> {
  const { code, stdout, stderr } = await run("go", ["run", "-C", program, ".", target.kubeconfig], {
    timeoutMs: 900_000,
  });
  const transcript = [`$ go client\n${stdout}`];
  return code === 0 ? { transcript } : { transcript, failure: stderr };
}
