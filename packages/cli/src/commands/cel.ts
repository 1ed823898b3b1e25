import { readFile } from "node:fs/promises";
import {
  SEMVER,
  formatType,
  normalizeSemver,
  policyEnvironment,
  renderIssues,
  toJson,
  types,
  type Dialect,
  type Environment,
  type Program,
} from "@polyvirt/cel";
import { parse } from "yaml";
import { parseArguments } from "../arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { errors } from "../errors.ts";

const actions = ["eval", "check", "strict"] as const;
type Action = (typeof actions)[number];

export const celCommand: Command = {
  usage: [
    "usage: polyvirt cel eval|check|strict EXPR [OPTIONS]",
    "",
    "  eval     print the result, its type and what the evaluation cost",
    "  check    print the type and the least and most that the expression can cost",
    "  strict   print the expression as a Kubernetes API server understands it",
    "",
    "  --object FILE       JSON or YAML; in the expression it is object, self and vmi",
    "  --old-object FILE   the object before a change: oldObject, oldSelf",
    "  --params FILE       the parameters of a policy: params",
    "  --request FILE      the admission request: request",
    "  --version VERSION   a version to compare with: version",
    "  --dialect DIALECT   relaxed (default) or strict",
  ].join("\n"),
  completions: [...actions, "--object", "--old-object", "--params", "--request", "--version", "--dialect"],
  async run(args, context) {
    const { values, positionals } = parseArguments(args, {
      object: { type: "string" },
      "old-object": { type: "string" },
      params: { type: "string" },
      request: { type: "string" },
      version: { type: "string" },
      dialect: { type: "string" },
    });
    const [action, expression, ...rest] = positionals;
    if (!isAction(action) || expression === undefined || rest.length > 0) {
      throw errors.CliUsage("give one of eval, check or strict, and one expression in quotes");
    }
    const environment = createEnvironment(parseDialect(values.dialect));
    const compiled = environment.tryCompile(expression);
    if (!compiled.ok) {
      context.stderr.write(`${renderIssues(expression, compiled.issues, { suggestions: true })}\n`);
      return 1;
    }
    const { program } = compiled;
    if (action === "strict") return print(context, [program.strictSource]);
    if (action === "check") return print(context, describeProgram(program));
    const object = await readData(values.object);
    const oldObject = await readData(values["old-object"]);
    return evaluate(program, context, {
      object,
      self: object,
      vmi: object,
      oldObject,
      oldSelf: oldObject,
      params: await readData(values.params),
      request: await readData(values.request),
      version: values.version === undefined ? undefined : normalizeSemver(values.version),
    });
  },
};

function isAction(text: string | undefined): text is Action {
  return actions.some((action) => action === text);
}

function parseDialect(text = "relaxed"): Dialect {
  if (text === "relaxed" || text === "strict") return text;
  throw errors.CliUsage(`--dialect must be relaxed or strict, not "${text}"`);
}

/** Everything that expressions in policies, rules and plug-ins may name, without schemas. */
function createEnvironment(dialect: Dialect): Environment {
  return policyEnvironment({ dialect, hasParams: true, mutations: true }).extend({
    variables: { self: types.DYN, oldSelf: types.DYN, vmi: types.DYN, version: SEMVER },
  });
}

async function readData(file: string | undefined): Promise<unknown> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw errors.CliUsage(`read ${file}`, { cause });
  });
  try {
    // JSON is YAML too.
    return parse(text) as unknown;
  } catch (cause) {
    throw errors.CliUsage(`read ${file}: it is neither JSON nor YAML`, { cause });
  }
}

function print(context: CommandContext, lines: readonly string[]): number {
  context.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}

function describeProgram(program: Program): string[] {
  const { min, max } = program.estimateCost();
  const most = Number.isFinite(max) ? String(max) : "unbounded";
  return [
    `type:    ${formatType(program.type)}`,
    `cost:    ${min} to ${most} (estimated)`,
    `strict:  ${program.strictSource}`,
  ];
}

function evaluate(program: Program, context: CommandContext, bindings: Readonly<Record<string, unknown>>): number {
  const result = program.run(Object.fromEntries(Object.entries(bindings).filter(([, value]) => value !== undefined)));
  if (!result.ok) {
    const range = result.failure.range ?? { start: 0, end: program.source.length };
    context.stderr.write(`${renderIssues(program.source, [{ range, message: result.failure.message }])}\n`);
    return 1;
  }
  const value = JSON.stringify(toJson(result.value), bigintAsText, 2);
  return print(context, [`result:  ${value}`, `type:    ${formatType(program.type)}`, `cost:    ${result.cost}`]);
}

/** Ints beyond what JSON can hold exactly are shown as text. */
function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
