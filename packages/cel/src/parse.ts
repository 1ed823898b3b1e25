import { childrenOf, qualifiedName, type Expr, type LiteralType, type StructField } from "./ast.ts";
import type { Dialect } from "./dialect.ts";
import { SyntaxFailure, lex, type Token } from "./lex.ts";
import { defaultParseLimits, type ParseLimits } from "./limits.ts";
import { readQuoted } from "./literals.ts";
import { NodeFactory, expandMacro, type MacroTable } from "./macros.ts";
import type { Issue, Range } from "./source.ts";
import { characterCount } from "./text.ts";
import { Double, intFrom, uintFrom, type Value } from "./values.ts";

export interface ParseOptions {
  readonly dialect: Dialect;
  readonly macros: MacroTable;
  readonly limits?: ParseLimits;
}

export type ParseResult =
  | { readonly ok: true; readonly expr: Expr; readonly nodeCount: number }
  | { readonly ok: false; readonly issues: readonly Issue[] };

export function parse(source: string, options: ParseOptions): ParseResult {
  const limits = options.limits ?? defaultParseLimits;
  try {
    const size = source.length > limits.sourceLength ? characterCount(source) : 0;
    if (size > limits.sourceLength) {
      const message = `expression code point size exceeds limit: size: ${size}, limit ${limits.sourceLength}`;
      throw new SyntaxFailure(message, 0, 0);
    }
    const parser = new Parser(lex(source, options.dialect), options, limits);
    const expr = parser.parseAll();
    checkSize(expr, limits);
    return { ok: true, expr, nodeCount: parser.factory.count };
  } catch (error) {
    if (error instanceof SyntaxFailure) return { ok: false, issues: [error.issue] };
    throw error;
  }
}

/** Walks without recursion: what is too deep here would overflow the stack of everything that comes after. */
function checkSize(root: Expr, limits: ParseLimits): void {
  const stack: { expr: Expr; depth: number }[] = [{ expr: root, depth: 1 }];
  let nodes = 0;
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { expr, depth } = item;
    nodes += 1;
    if (depth > limits.depth || nodes > limits.nodes) {
      const what = depth > limits.depth ? `is nested deeper than ${limits.depth} operators` : `has too many terms`;
      throw new SyntaxFailure(`expression ${what}`, expr.start, expr.end);
    }
    for (const child of childrenOf(expr)) stack.push({ expr: child, depth: depth + 1 });
  }
}

const reserved: ReadonlySet<string> = new Set(
  "as break const continue else false for function if import in let loop package namespace null return true var void while".split(
    " ",
  ),
);

const relations: ReadonlySet<string> = new Set(["<", "<=", ">", ">=", "==", "!=", "in"]);
const sums: ReadonlySet<string> = new Set(["+", "-"]);
const products: ReadonlySet<string> = new Set(["*", "/", "%"]);
/** Binary operators by strength, weakest first. */
const levels = [relations, sums, products];

class Parser {
  readonly factory = new NodeFactory();
  readonly #tokens: readonly Token[];
  readonly #options: ParseOptions;
  readonly #limits: ParseLimits;
  #position = 0;
  #nesting = 0;
  /** End of the last token taken: where the node under construction ends. */
  #end = 0;

  constructor(tokens: readonly Token[], options: ParseOptions, limits: ParseLimits) {
    this.#tokens = tokens;
    this.#options = options;
    this.#limits = limits;
  }

  parseAll(): Expr {
    const expr = this.#expression();
    if (this.#peek().kind !== "end") this.#unexpected("end of expression");
    return expr;
  }

  #peek(): Token {
    // The list ends with an "end" token that is never taken, so there always is one.
    return this.#tokens[this.#position] as Token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#position += 1;
    this.#end = token.end;
    return token;
  }

  #is(text: string): boolean {
    const token = this.#peek();
    return token.kind === "symbol" && token.text === text;
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#take() : undefined;
  }

  #expect(text: string): Token {
    return this.#accept(text) ?? this.#unexpected(`'${text}'`);
  }

  #unexpected(wanted: string): never {
    const token = this.#peek();
    const found = token.kind === "end" ? "<EOF>" : token.text;
    throw new SyntaxFailure(`Syntax error: unexpected '${found}', expecting ${wanted}`, token.start, token.end);
  }

  #span(start: number, at: number): Range & { at: number } {
    return { start, end: this.#end, at };
  }

  #expression(): Expr {
    this.#nesting += 1;
    if (this.#nesting > this.#limits.nesting) {
      const { start, end } = this.#peek();
      throw new SyntaxFailure(`expression recursion limit exceeded: ${this.#limits.nesting}`, start, end);
    }
    const test = this.#logical("||");
    const question = this.#accept("?");
    if (question === undefined) {
      this.#nesting -= 1;
      return test;
    }
    const then = this.#logical("||");
    this.#expect(":");
    const otherwise = this.#expression();
    this.#nesting -= 1;
    return this.factory.conditional(this.#span(test.start, question.start), test, then, otherwise);
  }

  #logical(operator: "&&" | "||"): Expr {
    const next = (): Expr => (operator === "||" ? this.#logical("&&") : this.#binary(0));
    const first = next();
    if (!this.#is(operator)) return first;
    const terms = [first];
    const at = this.#peek().start;
    while (this.#accept(operator) !== undefined) terms.push(next());
    return this.factory.logical(this.#span(first.start, at), operator, terms);
  }

  #binary(level: number): Expr {
    const operators = levels[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const token = this.#peek();
      if (token.kind !== "symbol" || !operators.has(token.text)) return left;
      this.#take();
      const right = this.#binary(level + 1);
      const name = token.text === "in" ? "@in" : `_${token.text}_`;
      left = this.factory.call(this.#span(left.start, token.start), name, undefined, [left, right]);
    }
  }

  #unary(): Expr {
    const first = this.#peek();
    const operator = this.#is("!") ? "!" : this.#is("-") ? "-" : undefined;
    if (operator === undefined) return this.#member();
    const following = this.#tokens[this.#position + 1];
    if (operator === "-" && (following?.kind === "int" || following?.kind === "double")) return this.#member();
    let count = 0;
    for (; this.#accept(operator) !== undefined; count += 1);
    const operand = this.#member();
    // Pairs of signs cancel out, in cel-go already while parsing.
    if (count % 2 === 0) return operand;
    const name = operator === "!" ? "!_" : "-_";
    return this.factory.call(this.#span(first.start, first.start), name, undefined, [operand]);
  }

  #member(): Expr {
    const start = this.#peek().start;
    const parenthesised = this.#is("(");
    let expr = this.#primary();
    for (let isName = !parenthesised; ;) {
      const token = this.#peek();
      if (token.kind !== "symbol") return expr;
      if (token.text === ".") {
        this.#take();
        expr = this.#selection(start, token, expr);
      } else if (token.text === "[") {
        this.#take();
        const optional = this.#accept("?") !== undefined;
        const index = this.#expression();
        this.#expect("]");
        expr = this.factory.index(this.#span(start, token.start), expr, index, optional);
      } else if (token.text === "{" && isName && qualifiedName(expr) !== undefined) {
        expr = this.#struct(start, qualifiedName(expr) ?? "");
        isName = false;
      } else {
        return expr;
      }
    }
  }

  #selection(start: number, dot: Token, operand: Expr): Expr {
    const optional = this.#accept("?") !== undefined;
    const name = this.#take();
    if (name.kind !== "identifier" && name.kind !== "quoted-identifier") {
      throw new SyntaxFailure(`Syntax error: no viable alternative at input '.${name.text}'`, name.start, name.end);
    }
    if (this.#is("(") && name.kind === "identifier" && !optional) {
      const open = this.#take();
      const args = this.#arguments();
      return this.#call(this.#span(start, open.start), name.text, operand, args);
    }
    return this.factory.select(this.#span(start, dot.start), operand, name.text, { optional, test: false });
  }

  #arguments(): Expr[] {
    const args: Expr[] = [];
    if (this.#accept(")") !== undefined) return args;
    do args.push(this.#expression());
    while (this.#accept(",") !== undefined);
    this.#expect(")");
    return args;
  }

  #call(span: Range & { at: number }, name: string, target: Expr | undefined, args: Expr[]): Expr {
    const expanded = expandMacro(this.#options.macros, this.factory, { span, name, target, args });
    return expanded ?? this.factory.call(span, name, target, args);
  }

  #primary(): Expr {
    const token = this.#peek();
    if (token.kind === "identifier") return this.#identifier(token.start, "");
    if (token.kind === "symbol") return this.#symbolPrimary(token);
    if (token.kind === "end" || token.kind === "quoted-identifier") return this.#unexpected("an expression");
    return this.#literal(token.start, "");
  }

  #symbolPrimary(token: Token): Expr {
    switch (token.text) {
      case "(": {
        this.#take();
        const inner = this.#expression();
        this.#expect(")");
        return inner;
      }
      case "[":
        return this.#list();
      case "{":
        return this.#map();
      case ".":
        this.#take();
        if (this.#peek().kind !== "identifier") this.#unexpected("a name");
        return this.#identifier(token.start, ".");
      case "-":
        this.#take();
        return this.#literal(token.start, "-");
      case "true":
      case "false":
      case "null":
        this.#take();
        return this.factory.literal(
          this.#span(token.start, token.start),
          token.text === "null" ? null : token.text === "true",
          token.text === "null" ? "null" : "bool",
        );
      default:
        return this.#unexpected("an expression");
    }
  }

  #identifier(start: number, prefix: string): Expr {
    const token = this.#take();
    const name = prefix + token.text;
    if (this.#is("(")) {
      const open = this.#take();
      return this.#call(this.#span(start, open.start), name, undefined, this.#arguments());
    }
    if (reserved.has(token.text)) {
      throw new SyntaxFailure(`reserved identifier: ${token.text}`, token.start, token.end);
    }
    return this.factory.ident(this.#span(start, token.start), name);
  }

  #literal(start: number, sign: string): Expr {
    const token = this.#take();
    const fail = (problem: string): never => {
      throw new SyntaxFailure(problem, start, token.end);
    };
    const make = (value: Value, type: LiteralType, text?: string): Expr =>
      this.factory.literal(this.#span(start, start), value, type, text);
    switch (token.kind) {
      case "int":
        return make(intFrom(signed(sign, token.text)) ?? fail("invalid int literal"), "int", sign + token.text);
      case "uint":
        return make(uintFrom(BigInt(token.text.slice(0, -1))) ?? fail("invalid uint literal"), "uint");
      case "double": {
        const value = Number(sign + token.text);
        return make(Number.isFinite(value) ? new Double(value) : fail("invalid double literal"), "double", token.text);
      }
      case "string":
      case "bytes": {
        const read = readQuoted(token.text);
        if ("problem" in read) return fail(`Syntax error: ${read.problem}`);
        return make(read.value, token.kind);
      }
      case "quantity":
      case "version":
        return make(token.text, token.kind, token.text);
      case "identifier":
      case "quoted-identifier":
      case "symbol":
      case "end":
        return fail(`Syntax error: unexpected '${token.text}', expecting a number`);
    }
  }

  #list(): Expr {
    const open = this.#take();
    const elements: { value: Expr; optional: boolean }[] = [];
    while (!this.#is("]")) {
      const optional = this.#accept("?") !== undefined;
      elements.push({ value: this.#expression(), optional });
      if (this.#accept(",") === undefined) break;
    }
    this.#expect("]");
    return this.factory.list(this.#span(open.start, open.start), elements);
  }

  #map(): Expr {
    const open = this.#take();
    const entries: { key: Expr; value: Expr; optional: boolean }[] = [];
    while (!this.#is("}")) {
      const optional = this.#accept("?") !== undefined;
      const key = this.#expression();
      this.#expect(":");
      entries.push({ key, value: this.#expression(), optional });
      if (this.#accept(",") === undefined) break;
    }
    this.#expect("}");
    return this.factory.map(this.#span(open.start, open.start), entries);
  }

  #struct(start: number, typeName: string): Expr {
    const open = this.#take();
    const fields: StructField[] = [];
    while (!this.#is("}")) {
      const optional = this.#accept("?") !== undefined;
      const name = this.#take();
      if (name.kind !== "identifier" && name.kind !== "quoted-identifier") {
        throw new SyntaxFailure(`Syntax error: '${name.text}' is not a field name`, name.start, name.end);
      }
      const colon = this.#expect(":");
      const value = this.#expression();
      fields.push({ name: name.text, value, optional, start: colon.start, end: this.#end });
      if (this.#accept(",") === undefined) break;
    }
    this.#expect("}");
    return this.factory.struct(this.#span(start, open.start), typeName, fields);
  }
}

function signed(sign: string, digits: string): bigint {
  return sign === "-" ? -BigInt(digits) : BigInt(digits);
}
