import type { Expr } from "../ast.ts";
import { Double, Uint } from "../values.ts";
import { formatDouble } from "../text.ts";

/** A tree in the notation of cel-go's debug output, which the vectors carry. */
export function debugString(expr: Expr): string {
  return print(expr, "");
}

const constants: Readonly<Record<string, string>> = {
  null: "Null",
  bool: "Bool",
  int: "Int64",
  uint: "Uint64",
  double: "Double",
  string: "String",
  bytes: "Bytes",
};

function call(name: string, args: readonly Expr[], indent: string): string {
  if (args.length === 0) return `${name}()^#*expr.Expr_CallExpr#`;
  const inner = `${indent}  `;
  const list = args.map((arg) => `\n${inner}${print(arg, inner)}`).join(",");
  return `${name}(${list}\n${indent})^#*expr.Expr_CallExpr#`;
}

/** `a && b && c` is a balanced tree there. */
function balanced(name: string, terms: readonly Expr[], indent: string): string {
  const [only] = terms;
  if (only !== undefined && terms.length === 1) return print(only, indent);
  const middle = Math.floor(terms.length / 2 + (terms.length % 2 === 0 ? 0 : 0.5));
  const inner = `${indent}  `;
  const left = balanced(name, terms.slice(0, middle), inner);
  const right = balanced(name, terms.slice(middle), inner);
  return `${name}(\n${inner}${left},\n${inner}${right}\n${indent})^#*expr.Expr_CallExpr#`;
}

function block(open: string, close: string, items: readonly string[], indent: string): string {
  if (items.length === 0) return open + close;
  return `${open}${items.map((item) => `\n${indent}  ${item}`).join(",")}\n${indent}${close}`;
}

function print(expr: Expr, indent: string): string {
  const inner = `${indent}  `;
  switch (expr.kind) {
    case "literal":
      return `${literal(expr)}^#*expr.Constant_${constants[expr.type]}Value#`;
    case "ident":
      return `${expr.name}^#*expr.Expr_IdentExpr#`;
    case "select":
      return `${print(expr.operand, indent)}.${expr.field}${expr.test ? "~test-only~" : ""}^#*expr.Expr_SelectExpr#`;
    case "index":
      return call("_[_]", [expr.operand, expr.index], indent);
    case "call":
      if (expr.target === undefined) return call(expr.name, expr.args, indent);
      return `${print(expr.target, indent)}.${call(expr.name, expr.args, indent)}`;
    case "logical":
      return balanced(expr.operator === "&&" ? "_&&_" : "_||_", expr.terms, indent);
    case "conditional":
      return call("_?_:_", [expr.test, expr.consequence, expr.otherwise], indent);
    case "list": {
      const items = expr.elements.map(({ value }) => print(value, inner));
      return `${block("[", "]", items, indent)}^#*expr.Expr_ListExpr#`;
    }
    case "map": {
      const items = expr.entries.map(
        ({ key, value }) => `${print(key, inner)}:${print(value, inner)}^#*expr.Expr_CreateStruct_Entry#`,
      );
      return `${block("{", "}", items, indent)}^#*expr.Expr_StructExpr#`;
    }
    case "struct": {
      const items = expr.fields.map(
        ({ name, value }) => `${name}:${print(value, inner)}^#*expr.Expr_CreateStruct_Entry#`,
      );
      return `${expr.typeName}${block("{", "}", items, indent)}^#*expr.Expr_StructExpr#`;
    }
    case "comprehension":
    case "bind":
    case "block":
    case "optional-map":
      return `<${expr.kind}>`;
  }
}

function literal({ value }: Extract<Expr, { kind: "literal" }>): string {
  if (typeof value === "string") return quote(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Double) return formatDouble(value.value);
  if (value instanceof Uint8Array) return `b${quoteBytes(value)}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const escapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

function quote(text: string): string {
  const body = Array.from(text, (char) => escapes[char] ?? (isPrintable(char) ? char : escapeCode(char)));
  return `"${body.join("")}"`;
}

function isPrintable(char: string): boolean {
  return char === " " || !/[\p{C}\p{Z}]/u.test(char);
}

function escapeCode(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

function quoteBytes(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let index = 0; index < bytes.length;) {
    let length = 4;
    let char = "";
    for (; length > 0 && char === ""; length -= 1) {
      try {
        const decoded = decoder.decode(bytes.subarray(index, index + length));
        if (Array.from(decoded).length === 1 && index + length <= bytes.length) char = decoded;
      } catch {
        // Not a whole character; try a shorter piece.
      }
    }
    text += char === "" ? `\\x${(bytes[index] ?? 0).toString(16).padStart(2, "0")}` : quote(char).slice(1, -1);
    index += char === "" ? 1 : length + 1;
  }
  return `"${text}"`;
}
