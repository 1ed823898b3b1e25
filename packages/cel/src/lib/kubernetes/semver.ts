import { traverse } from "../../cost-rules.ts";
import { args, declare, global, member, type FunctionDeclaration } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { BOOL, INT, opaque, type Type } from "../../types.ts";
import { CelError, CelObject, intFrom, type Value } from "../../values.ts";

export const SEMVER: Type = opaque("kubernetes.Semver");

/** A semantic version (semver.org 2.0). The build part does not take part in comparisons. */
export class SemverValue extends CelObject {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];
  readonly text: string;

  constructor(numbers: readonly bigint[], prerelease: readonly string[], text: string) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
    this.text = text;
  }

  get typeName(): string {
    return "kubernetes.Semver";
  }

  override equals(other: Value): boolean {
    return other instanceof SemverValue && compareSemver(this, other) === 0;
  }

  override toJson(): unknown {
    return this.text;
  }
}

const partNames = ["Major", "Minor", "Patch"] as const;

/** What is wrong with a number of a version, in the words that Kubernetes uses; undefined when it is fine. */
function numberProblem(part: string, index: number): string | undefined {
  const name = partNames[index] ?? "Patch";
  if (!/^\d+$/.test(part)) return `Invalid character(s) found in ${name.toLowerCase()} number ${JSON.stringify(part)}`;
  if (part.length > 1 && part.startsWith("0")) {
    return `${name} number must not contain leading zeroes ${JSON.stringify(part)}`;
  }
  return part.length > 20 ? `${name} number is too large` : undefined;
}

function prereleaseProblem(part: string): string | undefined {
  if (part === "") return "Prerelease is empty";
  if (/^\d+$/.test(part)) {
    return part.length > 1 && part.startsWith("0")
      ? `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`
      : undefined;
  }
  return /^[0-9A-Za-z-]+$/.test(part) ? undefined : `Invalid character(s) found in prerelease ${JSON.stringify(part)}`;
}

/** The version, or an error value that says what is wrong. */
function parseSemver(text: string): SemverValue | CelError {
  if (text === "") return new CelError("Version string empty");
  const [beforeBuild = "", ...build] = text.split("+");
  const dash = beforeBuild.indexOf("-");
  const core = dash === -1 ? beforeBuild : beforeBuild.slice(0, dash);
  const parts = core.split(".");
  if (parts.length !== 3) return new CelError("No Major.Minor.Patch elements found");
  const prerelease = dash === -1 ? [] : beforeBuild.slice(dash + 1).split(".");
  const problem =
    parts.map(numberProblem).find((found) => found !== undefined) ??
    prerelease.map(prereleaseProblem).find((found) => found !== undefined) ??
    build
      .flatMap((part) => part.split("."))
      .map(buildProblem)
      .find((found) => found !== undefined);
  if (problem !== undefined) return new CelError(problem);
  return new SemverValue(parts.map(BigInt), prerelease, text);
}

function buildProblem(part: string): string | undefined {
  if (part === "") return "Build meta data is empty";
  return /^[0-9A-Za-z-]+$/.test(part)
    ? undefined
    : `Invalid character(s) found in build meta data ${JSON.stringify(part)}`;
}

/** Takes `v1.2` for 1.2.0: drops the v and leading zeros, fills up what is missing. */
export function normalizeSemver(text: string): SemverValue | CelError {
  const [major = "", minor, ...rest] = text.replace(/^v/, "").split(".");
  const patch = rest.length === 0 ? undefined : rest.join(".");
  const parts = [major, minor, patch].filter((part) => part !== undefined).map(withoutLeadingZeros);
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) {
    return new CelError("short version cannot contain PreRelease/Build meta data");
  }
  while (parts.length < 3) parts.push("0");
  return parseSemver(parts.join("."));
}

function withoutLeadingZeros(part: string): string {
  if (part.length <= 1) return part;
  const stripped = part.replace(/^0+/, "");
  return /^\d/.test(stripped) ? stripped : `0${stripped}`;
}

function compareSemver(a: SemverValue, b: SemverValue): -1 | 0 | 1 {
  for (let index = 0; index < 3; index += 1) {
    const left = a.numbers[index] ?? 0n;
    const right = b.numbers[index] ?? 0n;
    if (left !== right) return left < right ? -1 : 1;
  }
  return comparePrerelease(a.prerelease, b.prerelease);
}

function comparePrerelease(a: readonly string[], b: readonly string[]): -1 | 0 | 1 {
  // A release comes after its prereleases.
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0 : a.length === 0 ? 1 : -1;
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const order = compareIdentifiers(a[index], b[index]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): -1 | 0 | 1 {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  const numeric = [a, b].map((part) => /^\d+$/.test(part));
  if (numeric[0] === true && numeric[1] === true) {
    return BigInt(a) < BigInt(b) ? -1 : Number(BigInt(a) > BigInt(b)) === 1 ? 1 : 0;
  }
  if (numeric[0] !== numeric[1]) return numeric[0] === true ? -1 : 1;
  return a < b ? -1 : 1;
}

const semver = args.object(SEMVER, SemverValue);
const parsing = ([text]: readonly Value[]): number => traverse(text);
const read = (text: string, normalize: boolean): SemverValue | CelError =>
  normalize ? normalizeSemver(text) : parseSemver(text);
const isValid = (text: string, normalize: boolean): boolean => read(text, normalize) instanceof SemverValue;

const part = (name: string, index: number): FunctionDeclaration =>
  declare(name, [
    member(
      `semver_${name}`,
      [semver],
      INT,
      ({ numbers }) => intFrom(numbers[index] ?? 0n) ?? new CelError("integer overflow"),
    ),
  ]);

const functions: readonly FunctionDeclaration[] = [
  declare(
    "semver",
    [
      global("string_to_semver", [args.string], SEMVER, (text) => read(text, false)),
      global("string_bool_to_semver", [args.string, args.bool], SEMVER, read),
    ],
    { cost: parsing },
  ),
  declare(
    "isSemver",
    [
      global("is_semver_string", [args.string], BOOL, (text) => isValid(text, false)),
      global("is_semver_string_bool", [args.string, args.bool], BOOL, isValid),
    ],
    { cost: parsing },
  ),
  declare("isGreaterThan", [
    member("semver_is_greater_than", [semver, semver], BOOL, (a, b) => compareSemver(a, b) > 0),
  ]),
  declare("isLessThan", [member("semver_is_less_than", [semver, semver], BOOL, (a, b) => compareSemver(a, b) < 0)]),
  declare("compareTo", [member("semver_compare_to", [semver, semver], INT, compareSemver)]),
  part("major", 0),
  part("minor", 1),
  part("patch", 2),
];

export const semverLibrary: Library = { name: "kubernetes.semver", functions, types: { "kubernetes.Semver": SEMVER } };
