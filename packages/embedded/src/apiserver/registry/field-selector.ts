import { badRequest } from "../http/status-error.ts";

export interface FieldSelector {
  readonly requirements: readonly { readonly field: string; readonly value: string; readonly equal: boolean }[];
  matches(fields: Readonly<Record<string, string>>): boolean;
}

/** Reads `a=b,c!=d`; backslashes escape commas, equals signs and themselves. */
export function parseFieldSelector(text: string): FieldSelector | undefined {
  if (text.trim() === "") return undefined;
  const requirements = splitUnescaped(text, ",")
    .filter((part) => part !== "")
    .map((part) => {
      const match = /^((?:[^=!\\]|\\.)+)(==|=|!=)((?:[^\\]|\\.)*)$/.exec(part);
      if (match === null) {
        throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
      }
      const [, field = "", sign, value = ""] = match;
      return { field, value: value.replace(/\\(.)/g, "$1"), equal: sign !== "!=" };
    });
  return {
    requirements,
    matches: (fields) => requirements.every(({ field, value, equal }) => ((fields[field] ?? "") === value) === equal),
  };
}

function splitUnescaped(text: string, separator: string): string[] {
  const parts: string[] = [];
  let current = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") {
      current += character + (text[++index] ?? "");
    } else if (character === separator) {
      parts.push(current);
      current = "";
    } else {
      current += character;
    }
  }
  return [...parts, current];
}
