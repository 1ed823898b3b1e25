import { check, type CheckResult } from "./check.ts";
import { unchecked } from "./check-info.ts";
import { compileExpression } from "./compile.ts";
import type { Declarations } from "./declarations.ts";
import type { Dialect } from "./dialect.ts";
import { errors } from "./errors.ts";
import type { FunctionDeclaration } from "./functions.ts";
import type { Library } from "./library.ts";
import { defaultParseLimits, type ParseLimits } from "./limits.ts";
import { NodeFactory, macroGroups, macroTable, type MacroTable } from "./macros.ts";
import { parse, type ParseResult } from "./parse.ts";
import { Program } from "./program.ts";
import { relax } from "./relaxed/relax.ts";
import { renderIssues, type Issue } from "./source.ts";
import { standardFunctions } from "./stdlib/index.ts";
import { joinProviders, type TypeProvider } from "./type-provider.ts";
import { validate } from "./validate.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  formatType,
  isDynOrError,
  listOf,
  mapOf,
  type Type,
} from "./types.ts";
import type { Expr } from "./ast.ts";

export interface EnvironmentOptions {
  /** The namespace in which names are looked up first. */
  readonly container?: string;
  readonly variables?: Readonly<Record<string, Type>>;
  readonly libraries?: readonly Library[];
  readonly types?: readonly TypeProvider[];
  readonly dialect?: Dialect;
  readonly limits?: Partial<ParseLimits>;
  /** Checks beyond types that Kubernetes makes: see `validate.ts`. Default: false. */
  readonly validateLiterals?: boolean;
}

export interface CompileOptions {
  /** The type that the whole must have; anything else is an issue. `dyn` always passes. */
  readonly expect?: Type;
  /** Run without checking types first. */
  readonly skipCheck?: boolean;
}

export type CompileResult =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly message: string };

const standardTypes: Readonly<Record<string, Type>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  null_type: NULL,
  list: listOf(DYN),
  map: mapOf(DYN, DYN),
  type: TYPE,
  "google.protobuf.Timestamp": TIMESTAMP,
  "google.protobuf.Duration": DURATION,
};

/** What comes from libraries, put together once. */
interface LibraryTables {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: MacroTable;
  readonly typeNames: ReadonlyMap<string, Type>;
}

function libraryTables(libraries: readonly Library[]): LibraryTables {
  const groups = libraries.flatMap(({ macros }) => (macros === undefined ? [] : [macroGroups[macros]]));
  return {
    functions: mergeFunctions([...standardFunctions, ...libraries.flatMap((library) => library.functions ?? [])]),
    macros: macroTable([macroGroups.standard, ...groups]),
    typeNames: new Map(
      [standardTypes, ...libraries.map((library) => library.types ?? {})].flatMap((types) => Object.entries(types)),
    ),
  };
}

/** How many compiled expressions one environment remembers. */
const maxCached = 1_000;

/** What expressions may use, and the cache of those that were compiled with it. */
export class Environment {
  readonly declarations: Declarations;
  readonly dialect: Dialect;
  readonly #options: EnvironmentOptions;
  readonly #tables: LibraryTables;
  readonly #limits: ParseLimits;
  readonly #cache = new Map<string, CompileResult>();

  constructor(options: EnvironmentOptions = {}, base?: LibraryTables) {
    const tables = base ?? libraryTables(options.libraries ?? []);
    const types = joinProviders(options.types ?? []);
    this.#options = options;
    this.#tables = tables;
    this.dialect = options.dialect ?? "strict";
    this.#limits = { ...defaultParseLimits, ...options.limits };
    this.declarations = {
      container: options.container ?? "",
      variables: new Map(Object.entries(options.variables ?? {})),
      functions: tables.functions,
      types,
      findTypeName: (name) => tables.typeNames.get(name) ?? types.findType(name),
    };
  }

  /** The same with more variables, libraries or types. Without more libraries this is cheap. */
  extend(more: Pick<EnvironmentOptions, "container" | "variables" | "libraries" | "types" | "dialect">): Environment {
    const { variables, libraries, types } = this.#options;
    const added = more.libraries ?? [];
    return new Environment(
      {
        ...this.#options,
        ...(more.container === undefined ? {} : { container: more.container }),
        variables: { ...variables, ...more.variables },
        libraries: [...(libraries ?? []), ...added],
        types: [...(more.types ?? []), ...(types ?? [])],
        dialect: more.dialect ?? this.dialect,
      },
      added.length === 0 ? this.#tables : undefined,
    );
  }

  parse(source: string): ParseResult {
    return parse(source, { dialect: this.dialect, macros: this.#tables.macros, limits: this.#limits });
  }

  check(expr: Expr): CheckResult {
    const checked = check(expr, this.declarations);
    if (this.#options.validateLiterals !== true || checked.issues.length > 0) return checked;
    return { ...checked, issues: validate(expr, checked.info) };
  }

  /** Compiles, or says what is wrong; the answer for a source is worked out once. */
  tryCompile(source: string, options: CompileOptions = {}): CompileResult {
    const key = `${options.skipCheck === true ? "?" : formatType(options.expect ?? DYN)} ${source}`;
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const result = this.#compile(source, options);
    if (this.#cache.size >= maxCached) this.#cache.clear();
    this.#cache.set(key, result);
    return result;
  }

  /** Compiles, or throws `CelInvalid`. */
  compile(source: string, options: CompileOptions = {}): Program {
    const result = this.tryCompile(source, options);
    if (result.ok) return result.program;
    throw errors.CelInvalid(`compile CEL expression: ${result.message}`, { fields: { expression: source } });
  }

  #compile(source: string, options: CompileOptions): CompileResult {
    const parsed = this.parse(source);
    if (!parsed.ok) return failure(source, parsed.issues);
    const expr =
      this.dialect === "relaxed"
        ? relax(parsed.expr, this.declarations, new NodeFactory(parsed.nodeCount))
        : parsed.expr;
    if (options.skipCheck === true) {
      const compiled = compileExpression(expr, this.declarations, unchecked);
      return { ok: true, program: new Program({ source, expr, type: DYN, info: unchecked, compiled }) };
    }
    const { type, info, issues } = this.check(expr);
    const expected = options.expect;
    if (issues.length > 0) return failure(source, issues);
    if (expected !== undefined && !isDynOrError(type) && formatType(type) !== formatType(expected)) {
      const message = `must evaluate to ${formatType(expected)} but got ${formatType(type)}`;
      return failure(source, [{ range: { start: expr.start, end: expr.end }, message }]);
    }
    const compiled = compileExpression(expr, this.declarations, info);
    const [hopeless] = compiled.hopeless;
    if (hopeless !== undefined && this.#options.validateLiterals === true) {
      return failure(source, [{ ...hopeless, message: `program instantiation failed: ${hopeless.message}` }]);
    }
    return { ok: true, program: new Program({ source, expr, type, info, compiled }) };
  }
}

function failure(source: string, issues: readonly Issue[]): CompileResult {
  return { ok: false, issues, message: renderIssues(source, issues) };
}

/** Libraries may add overloads to a function that another one declared. */
function mergeFunctions(declarations: readonly FunctionDeclaration[]): Map<string, FunctionDeclaration> {
  const functions = new Map<string, FunctionDeclaration>();
  for (const declaration of declarations) {
    const known = functions.get(declaration.name);
    functions.set(
      declaration.name,
      known === undefined
        ? declaration
        : { ...known, ...declaration, overloads: [...known.overloads, ...declaration.overloads] },
    );
  }
  return functions;
}
