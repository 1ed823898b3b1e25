import { traverse } from "../../cost-rules.ts";
import { args, declare, global, member, type FunctionDeclaration } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { BOOL, STRING, listOf, mapOf, opaque, type Type } from "../../types.ts";
import { CelError, CelMap, CelObject, type MapKey, type Value } from "../../values.ts";

const URL_TYPE: Type = opaque("kubernetes.URL");

interface Parts {
  readonly scheme: string;
  /** With the port, and brackets around IPv6. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

/**
 * An absolute URL or path, split the way Go does it. The URL class of JavaScript cannot stand in: it normalises, needs a
 * scheme, and reads `https:///x` differently.
 */
class UrlValue extends CelObject {
  readonly parts: Parts;
  readonly text: string;

  constructor(parts: Parts, text: string) {
    super();
    this.parts = parts;
    this.text = text;
  }

  get typeName(): string {
    return "kubernetes.URL";
  }

  override equals(other: Value): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }

  override toJson(): unknown {
    return this.text;
  }
}

type Problem = { readonly problem: string };

function hasBadEscape(text: string): boolean {
  return /%(?![0-9a-fA-F]{2})/.test(text);
}

function hostProblem(host: string): string | undefined {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    if (end === -1) return "missing ']' in host";
    const rest = host.slice(end + 1);
    return /^(?::\d*)?$/.test(rest) ? undefined : `invalid port ${JSON.stringify(rest)} after host`;
  }
  const colon = host.indexOf(":");
  if (colon !== -1 && !/^:\d*$/.test(host.slice(colon))) {
    return `invalid port ${JSON.stringify(host.slice(host.lastIndexOf(":")))} after host`;
  }
  return /[\s<>"{}|\\^`]/.test(host) ? `invalid character in host name` : undefined;
}

function parseUrl(text: string): Parts | Problem {
  if (text === "") return { problem: "empty url" };
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused here
  if (/[\u0000-\u001f\u007f]/.test(text)) return { problem: "net/url: invalid control character in URL" };
  const [withoutFragment = ""] = text.split("#", 1);
  if (withoutFragment.startsWith(":")) return { problem: "missing protocol scheme" };
  const schemed = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/s.exec(withoutFragment);
  const scheme = (schemed?.[1] ?? "").toLowerCase();
  const rest = schemed?.[2] ?? withoutFragment;
  const mark = rest.indexOf("?");
  const [hierarchy, query] = mark === -1 ? [rest, ""] : [rest.slice(0, mark), rest.slice(mark + 1)];
  if (!hierarchy.startsWith("/")) {
    if (scheme !== "") return { scheme, host: "", path: "", query };
    return { problem: "invalid URI for request" };
  }
  const authority = hierarchy.startsWith("//") ? (/^\/\/([^/]*)/.exec(hierarchy)?.[1] ?? "") : "";
  const path = hierarchy.startsWith("//") ? hierarchy.slice(2 + authority.length) : hierarchy;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const problem = hostProblem(host);
  if (problem !== undefined) return { problem };
  if (hasBadEscape(path) || hasBadEscape(authority)) {
    return { problem: `invalid URL escape ${JSON.stringify(/%.{0,2}/.exec(path)?.[0] ?? "%")}` };
  }
  return { scheme, host: decodePercent(host), path, query };
}

function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  const bytes: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const escape = /^%([0-9a-fA-F]{2})/.exec(text.slice(index, index + 3));
    if (escape === null) {
      bytes.push(...new TextEncoder().encode(text[index]));
    } else {
      bytes.push(Number.parseInt(escape[1] ?? "0", 16));
      index += 2;
    }
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

export function urlProblem(text: string): string | undefined {
  const parsed = parseUrl(text);
  return "problem" in parsed ? `parse ${JSON.stringify(text)}: ${parsed.problem}` : undefined;
}

function toUrl(text: string): Value {
  const parsed = parseUrl(text);
  if ("problem" in parsed) {
    return new CelError(`URL parse error during conversion from string: ${urlProblem(text) ?? ""}`);
  }
  return new UrlValue(parsed, text);
}

/** The path with everything escaped that has to be; what already is stays. */
function escapedPath({ parts }: UrlValue): string {
  return parts.path.replace(/[^A-Za-z0-9\-_.~!$&'()*+,;=:@/%[\]]/gu, (character) => encodeURIComponent(character));
}

function hostname({ parts: { host } }: UrlValue): string {
  const bracketed = /^\[(.*)\](?::\d*)?$/.exec(host);
  if (bracketed !== null) return bracketed[1] ?? "";
  return host.replace(/:\d*$/, "");
}

function port({ parts: { host } }: UrlValue): string {
  return /(?:^[^:[\]]*|\]):(\d*)$/.exec(host)?.[1] ?? "";
}

function query({ parts }: UrlValue): Value {
  const entries = new Map<MapKey, string[]>();
  for (const pair of parts.query === "" ? [] : parts.query.split("&")) {
    // A pair with a semicolon is dropped, as it might have been two.
    if (pair === "" || pair.includes(";") || hasBadEscape(pair)) continue;
    const [name = "", ...value] = pair.replaceAll("+", " ").split("=");
    const key = decodePercent(name);
    const list = entries.get(key) ?? [];
    list.push(decodePercent(value.join("=")));
    entries.set(key, list);
  }
  return new CelMap(entries);
}

const url = args.object(URL_TYPE, UrlValue);
const getter = (name: string, id: string, read: (value: UrlValue) => string): FunctionDeclaration =>
  declare(name, [member(id, [url], STRING, read)]);

const functions: readonly FunctionDeclaration[] = [
  declare("url", [global("string_to_url", [args.string], URL_TYPE, toUrl)], { cost: ([text]) => traverse(text) }),
  declare("isURL", [global("is_url_string", [args.string], BOOL, (text) => urlProblem(text) === undefined)]),
  getter("getScheme", "url_get_scheme", ({ parts }) => parts.scheme),
  getter("getHost", "url_get_host", ({ parts }) => parts.host),
  getter("getHostname", "url_get_hostname", hostname),
  getter("getPort", "url_get_port", port),
  getter("getEscapedPath", "url_get_escaped_path", escapedPath),
  declare("getQuery", [member("url_get_query", [url], mapOf(STRING, listOf(STRING)), query)]),
];

export const urlLibrary: Library = { name: "kubernetes.urls", functions, types: { "kubernetes.URL": URL_TYPE } };
