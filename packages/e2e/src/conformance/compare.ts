import { exceptions } from "./exceptions.ts";
import type { Statement } from "./statement.ts";
import { comparable } from "./transcript.ts";

export interface Outcome {
  readonly transcript: readonly string[];
  /** Why the statement does not hold. */
  readonly failure?: string;
}

export interface Outcomes {
  readonly kubernetes: ReadonlyMap<string, Outcome>;
  readonly embedded: ReadonlyMap<string, Outcome>;
}

interface CompareOptions {
  /** Prints the documented differences too. */
  readonly documented: boolean;
}

/** Prints every difference; true when there is none but the documented ones. */
export function compare(
  statements: readonly Pick<Statement, "id">[],
  outcomes: Outcomes,
  options: CompareOptions,
): boolean {
  let differences = 0;
  let excepted = 0;
  const tell = (id: string, text: string): void => {
    differences += 1;
    process.stdout.write(`\n── ${id}\n${text}\n`);
  };
  for (const { id } of statements) {
    const real = outcomes.kubernetes.get(id);
    const ours = outcomes.embedded.get(id);
    if (real?.failure !== undefined)
      tell(id, `does not hold on Kubernetes: ${real.failure}\n${real.transcript.at(-1)}`);
    if (ours?.failure !== undefined)
      tell(id, `does not hold on the embedded: ${ours.failure}\n${ours.transcript.at(-1)}`);
    if (real?.failure !== undefined || ours?.failure !== undefined) continue;
    for (const { call, lines } of differing(real?.transcript ?? [], ours?.transcript ?? [])) {
      const explained = lines.map((line) => exceptions.find((exception) => exception.covers(id, call, line))?.title);
      const open = lines.filter((_, index) => explained[index] === undefined);
      if (open.length > 0) tell(id, `${call}\n${open.join("\n")}`);
      else excepted += 1;
      if (options.documented && open.length === 0) {
        const told = lines.map((line, index) => `${line}   [${explained[index]}]`);
        process.stdout.write(`\n── ${id} (documented)\n${call}\n${told.join("\n")}\n`);
      }
    }
  }
  process.stdout.write(`\n${statements.length} statements, ${differences} differences, ${excepted} documented\n`);
  return differences === 0;
}

interface Difference {
  /** The call whose answers differ. */
  readonly call: string;
  /** `-` as Kubernetes says it, `+` as the embedded server does. */
  readonly lines: readonly string[];
}

function differing(real: readonly string[], ours: readonly string[]): Difference[] {
  const found: Difference[] = [];
  const [mine, theirs] = [withoutPolls(ours), withoutPolls(real)];
  for (let index = 0; index < Math.max(theirs.length, mine.length); index += 1) {
    const [call = "", ...expected] = withoutOrderOfCauses((theirs[index] ?? "").split("\n"));
    const [, ...actual] = withoutOrderOfCauses((mine[index] ?? "").split("\n"));
    if (expected.join("\n") === actual.join("\n")) continue;
    const lines = [
      ...expected.filter((line) => !actual.includes(line)).map((line) => `- ${line}`),
      ...actual.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`),
    ];
    found.push({ call, lines: lines.length === 0 ? ["(the same lines in another order)"] : lines });
  }
  return found;
}

/** Kubernetes finds what is wrong with a custom resource in a random order. */
function withoutOrderOfCauses(lines: readonly string[]): string[] {
  const causes = lines.filter((line) => line.startsWith("* ")).toSorted();
  return lines.map((line) => (line.startsWith("* ") ? (causes.shift() ?? line) : line));
}

/** Looking again and again takes as many looks as it takes: of looks in a row the last counts. */
function withoutPolls(transcript: readonly string[]): string[] {
  const entries = transcript.map((entry) => comparable(entry));
  const call = (entry: string | undefined) => entry?.split("\n", 1)[0];
  return entries.filter((entry, index) => !entry.startsWith("GET ") || call(entry) !== call(entries[index + 1]));
}
