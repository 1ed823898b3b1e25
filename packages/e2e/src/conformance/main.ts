/**
 * `npm run test:conformance [-- --documented] [ID…]`: makes the statements about a real kube-apiserver and about the embedded one, and
 * prints where the two differ: in a statement that holds on one only, or in what they said on the way. With
 * `--documented` it prints the differences that are meant as well.
 * `policies` as ID stands for the generated policies.
 * `KUBERNETES_BIN=FOLDER` names a folder with kube-apiserver and kube-controller-manager; otherwise they are built.
 */
import { compare, type Outcome } from "./compare.ts";
import { runClients } from "./go-client.ts";
import { statements } from "./statements/index.ts";
import { startEmbedded } from "./targets/embedded.ts";
import { obtainKubernetes } from "./targets/kubernetes-binaries.ts";
import { startKubernetes } from "./targets/kubernetes.ts";
import type { Target } from "./targets/target.ts";
import { comparePolicies } from "../policies/compare-policies.ts";
import { createWorld } from "./world.ts";

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const documented = process.argv.includes("--documented");
const chosen = statements.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
const binaries = await obtainKubernetes(process.env["KUBERNETES_BIN"]);

const outcomes = {
  kubernetes: await outcomesOn(() => startKubernetes(binaries, { durable: false, housekeeping: true })),
  embedded: await outcomesOn(startEmbedded),
};
const compared = wanted.length === 0 ? [...chosen, { id: "clients" }] : chosen;
const policiesAgree = wanted.length > 0 && !wanted.includes("policies") ? true : await comparePolicies(binaries);
process.exitCode = compare(compared, outcomes, { documented }) && policiesAgree ? 0 : 1;

async function outcomesOn(start: () => Promise<Target>): Promise<Map<string, Outcome>> {
  const target = await start();
  const found = new Map<string, Outcome>();
  const queue = [...chosen];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const transcript: string[] = [];
      try {
        await next.run(await createWorld(target, next.id, transcript));
        found.set(next.id, { transcript });
      } catch (error) {
        found.set(next.id, { transcript, failure: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  try {
    const started = performance.now();
    await Promise.all([work(), work(), work()]);
    if (wanted.length === 0) found.set("clients", await runClients(target));
    process.stdout.write(`${target.name}: ${found.size} in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  } finally {
    await target.stop();
  }
  return found;
}
