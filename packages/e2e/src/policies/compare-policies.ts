import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { startEmbedded } from "../conformance/targets/embedded.ts";
import type { KubernetesBinaries } from "../conformance/targets/kubernetes-binaries.ts";
import { startKubernetes } from "../conformance/targets/kubernetes.ts";
import type { Target } from "../conformance/targets/target.ts";
import { askCases } from "./ask-cases.ts";
import { differences, inOwnWords, tally, unexpected, type Answers, type Difference } from "./compare-answers.ts";
import type { PolicyCase } from "./policy-case.ts";
import { policyCases } from "./policy-cases.ts";

/** The seed of the cases whose answers are written down. */
export const recordedSeed = 1;

const record = fileURLToPath(new URL("../../testdata/policy-answers.json", import.meta.url));

/** Digests of what a real kube-apiserver answered, by case: enough to see whether ours says the same. */
export type Digests = Readonly<Record<string, string>>;

export const readRecord = async (): Promise<Digests> => JSON.parse(await readFile(record, "utf8")) as Digests;

export function digests(answers: Answers): Digests {
  const digest = (entries: readonly string[]): string =>
    createHash("sha256").update(entries.map(inOwnWords).join("\n")).digest("hex").slice(0, 16);
  return Object.fromEntries(
    [...answers].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([id, said]) => [id, digest(said)]),
  );
}

/**
 * Asks a real kube-apiserver and the embedded one about policies, prints where they differ, and writes down what the real one
 * said when they agree. True when they do.
 */
export async function comparePolicies(binaries: KubernetesBinaries, seed = recordedSeed): Promise<boolean> {
  const cases = policyCases(seed);
  const kubernetes = await answersOf(() => startKubernetes(binaries, { durable: false, housekeeping: false }), cases);
  const embedded = await answersOf(startEmbedded, cases);
  const found = [
    ...differences(kubernetes, embedded),
    ...unexpected(cases, kubernetes).map((difference) => on("Kubernetes", difference)),
    ...unexpected(cases, embedded).map((difference) => on("the embedded", difference)),
  ];
  for (const { id, request, lines } of found) process.stdout.write(`\n── ${id}\n${request}\n${lines.join("\n")}\n`);
  const { requests, allowed, refused, warned } = tally(kubernetes);
  const answers = `${requests} answers (${allowed} allowed, ${refused} refused, ${warned} with warnings)`;
  process.stdout.write(`\npolicies, seed ${seed}: ${cases.length} cases, ${answers}, ${found.length} differences\n`);
  if (found.length === 0 && seed === recordedSeed)
    await writeFile(record, `${JSON.stringify(digests(kubernetes), undefined, 2)}\n`);
  return found.length === 0;
}

const on = (server: string, difference: Difference): Difference => ({
  ...difference,
  id: `${difference.id} on ${server}`,
});

async function answersOf(start: () => Promise<Target>, cases: readonly PolicyCase[]): Promise<Answers> {
  const target = await start();
  try {
    return await askCases(target, cases);
  } finally {
    await target.stop();
  }
}
