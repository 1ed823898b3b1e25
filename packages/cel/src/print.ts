import type { Expr } from "./ast.ts";
import { quoteBytes, quoteString } from "./literals.ts";
import { formatSpecial, plainDecimal, withExponent } from "./text.ts";
import { Double, Uint, type Value } from "./values.ts";

/** How tightly operators bind; an operand that binds less than its place asks for gets brackets. */
const binding = { ternary: 1, or: 2, and: 3, relation: 4, sum: 5, product: 6, unary: 7, member: 8 } as const;

const infix: Readonly<Record<string, readonly [string, number]>> = {
  "_<_": ["<", binding.relation],
  "_<=_": ["<=", binding.relation],
  "_>_": [">", binding.relation],
  "_>=_": [">=", binding.relation],
  "_==_": ["==", binding.relation],
  "_!=_": ["!=", binding.relation],
  "@in": ["in", binding.relation],
  "_+_": ["+", binding.sum],
  "_-_": ["-", binding.sum],
  "_*_": ["*", binding.product],
  "_/_": ["/", binding.product],
  "_%_": ["%", binding.product],
};

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The expression as text that parses to the same tree. Fields with unusual names are read by index, as Kubernetes needs. */
export function printExpr(expr: Expr): string {
  return print(expr, 0);
}

function print(expr: Expr, place: number): string {
  const [text, strength] = write(expr);
  return strength < place ? `(${text})` : text;
}

function write(expr: Expr): [string, number] {
  switch (expr.kind) {
    case "literal":
      return writeLiteral(expr.value, expr.type);
    case "ident":
      return [expr.name, binding.member];
    case "select": {
      const step = selection(expr.field, expr.optional);
      const text = `${print(expr.operand, binding.member)}${step}`;
      return [expr.test ? `has(${text})` : text, binding.member];
    }
    case "index": {
      const index = `${expr.optional ? "?" : ""}${print(expr.index, 0)}`;
      return [`${print(expr.operand, binding.member)}[${index}]`, binding.member];
    }
    case "call":
      return writeCall(expr);
    case "logical": {
      const strength = expr.operator === "&&" ? binding.and : binding.or;
      return [expr.terms.map((term) => print(term, strength + 1)).join(` ${expr.operator} `), strength];
    }
    case "conditional": {
      const parts = [print(expr.test, binding.or), print(expr.consequence, binding.or), print(expr.otherwise, 0)];
      return [`${parts[0]} ? ${parts[1]} : ${parts[2]}`, binding.ternary];
    }
    case "list":
      return [
        `[${expr.elements.map((element) => optionalMark(element) + print(element.value, 0)).join(", ")}]`,
        binding.member,
      ];
    case "map": {
      const entries = expr.entries.map(
        (entry) => `${optionalMark(entry)}${print(entry.key, 0)}: ${print(entry.value, 0)}`,
      );
      return [`{${entries.join(", ")}}`, binding.member];
    }
    case "struct": {
      const fields = expr.fields.map(
        (field) => `${optionalMark(field)}${fieldName(field.name)}: ${print(field.value, 0)}`,
      );
      return [`${expr.typeName}{${fields.join(", ")}}`, binding.member];
    }
    case "comprehension": {
      const variables = expr.variable2 === undefined ? [expr.variable] : [expr.variable, expr.variable2];
      const filter = expr.filter === undefined ? [] : [print(expr.filter, 0)];
      return [method(expr.range, expr.spelling, [...variables, ...filter, print(expr.body, 0)]), binding.member];
    }
    case "bind":
      return [writeBind(expr), binding.member];
    case "block":
      return [
        `cel.block([${expr.slots.map((slot) => print(slot, 0)).join(", ")}], ${print(expr.body, 0)})`,
        binding.member,
      ];
    case "optional-map":
      return [
        method(expr.target, expr.flat ? "optFlatMap" : "optMap", [expr.variable, print(expr.body, 0)]),
        binding.member,
      ];
  }
}

function method(target: Expr, name: string, args: readonly string[]): string {
  return `${print(target, binding.member)}.${name}(${args.join(", ")})`;
}

const optionalMark = ({ optional }: { optional: boolean }): string => (optional ? "?" : "");

function selection(field: string, optional: boolean): string {
  const mark = optional ? "?" : "";
  return identifier.test(field) ? `.${mark}${field}` : `[${mark}${quoteString(field)}]`;
}

function fieldName(name: string): string {
  return identifier.test(name) ? name : `\`${name}\``;
}

function writeBind(expr: Extract<Expr, { kind: "bind" }>): string {
  const { body } = expr;
  if (expr.name === "@__sortBy_input__" && body.kind === "call" && body.args[0]?.kind === "comprehension") {
    const keys = body.args[0];
    return method(expr.value, "sortBy", [keys.variable, print(keys.body, 0)]);
  }
  return `cel.bind(${expr.name}, ${print(expr.value, 0)}, ${print(body, 0)})`;
}

function writeCall(expr: Extract<Expr, { kind: "call" }>): [string, number] {
  const [first, second] = expr.args;
  const operator = Object.hasOwn(infix, expr.name) ? infix[expr.name] : undefined;
  if (operator !== undefined && first !== undefined && second !== undefined) {
    const [symbol, strength] = operator;
    // All of them group to the left, so only the right operand must bind more tightly.
    return [`${print(first, strength)} ${symbol} ${print(second, strength + 1)}`, strength];
  }
  if ((expr.name === "!_" || expr.name === "-_") && first !== undefined) {
    const text = print(first, binding.member);
    // `--1` would cancel out, and `-1` would be a literal.
    const inner = expr.name === "-_" && /^[-\d.]/.test(text) ? `(${text})` : text;
    return [`${expr.name[0]}${inner}`, binding.unary];
  }
  if (expr.target !== undefined) {
    return [
      method(
        expr.target,
        expr.name,
        expr.args.map((arg) => print(arg, 0)),
      ),
      binding.member,
    ];
  }
  const extreme = { "math.@max": "math.greatest", "math.@min": "math.least" }[expr.name];
  const args = extreme !== undefined && first?.kind === "list" && expr.args.length === 1 ? spread(first) : expr.args;
  return [`${extreme ?? expr.name}(${args.map((arg) => print(arg, 0)).join(", ")})`, binding.member];
}

/** `math.greatest(a, b, c)` was parsed into a list; one of a single list stays one. */
function spread(list: Extract<Expr, { kind: "list" }>): readonly Expr[] {
  return list.elements.length > 2 ? list.elements.map((element) => element.value) : [list];
}

function writeLiteral(value: Value, type: string): [string, number] {
  if (typeof value === "string") {
    return [type === "quantity" || type === "version" ? value : quoteString(value), binding.member];
  }
  if (value instanceof Uint8Array) return [quoteBytes(value), binding.member];
  if (value instanceof Uint) return [`${value.value}u`, binding.member];
  if (value instanceof Double) return [writeDouble(value.value), value.value < 0 ? binding.unary : binding.member];
  if (typeof value === "number" || typeof value === "bigint") {
    return [String(value), value < 0 ? binding.unary : binding.member];
  }
  return [value === true ? "true" : value === false ? "false" : "null", binding.member];
}

function writeDouble(value: number): string {
  if (formatSpecial(value) !== undefined && value !== 0) return `double("${value}")`;
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  if (Math.abs(Number(exponent)) > 20) return withExponent(mantissa, Number(exponent));
  const text = plainDecimal(value);
  return text.includes(".") ? text : `${text}.0`;
}
