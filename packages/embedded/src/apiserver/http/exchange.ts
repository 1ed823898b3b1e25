import type { IncomingMessage, ServerResponse } from "node:http";

import { stringify as stringifyYaml } from "yaml";

import type { UserInfo } from "../auth/user.ts";
import { parseBody, parseObjectBody, readBody, type Body, type ParsedBody } from "./body.ts";
import type { ResponseFormat } from "./media-type.ts";
import { badRequest, fieldError, invalidOptions, type StatusError } from "./status-error.ts";
import type { RequestInfo } from "./request-info.ts";
import type { FieldValidation, RequestContext } from "../registry/request-context.ts";

/** One request and its answer, with what every handler needs. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly #warnings: string[] = [];
  #body: Promise<Body> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, info: RequestInfo, user: UserInfo) {
    this.request = request;
    this.response = response;
    this.info = info;
    this.user = user;
  }

  get query(): URLSearchParams {
    return this.info.query;
  }

  /** The body's value, whatever it is; undefined when there is none. */
  async parsedBody(): Promise<ParsedBody> {
    return parseBody(await this.#read());
  }

  /** The body as an object that should be of the kind. */
  async objectBody(kind: string): Promise<ParsedBody> {
    return parseObjectBody(await this.#read(), kind);
  }

  #read(): Promise<Body> {
    this.#body ??= readBody(this.request);
    return this.#body;
  }

  warn(message: string): void {
    if (!this.#warnings.includes(message) && this.#warnings.length < 50) this.#warnings.push(message);
  }

  /** What writes need to know, from the query and the headers. */
  context(): RequestContext {
    const fieldManager = this.query.get("fieldManager") ?? "";
    if (fieldManager.length > 128) throw badRequest("fieldManager: Invalid value: must be no more than 128 characters");
    return {
      user: this.user,
      fieldManager: fieldManager === "" ? userAgentName(this.request.headers["user-agent"]) : fieldManager,
      dryRun: this.#dryRun(),
      fieldValidation: this.#fieldValidation(),
      warn: (message) => this.warn(message),
    };
  }

  #dryRun(): boolean {
    const values = this.query.getAll("dryRun").filter((value) => value !== "");
    if (values.some((value) => value !== "All"))
      throw invalidOptions(this.#optionsKind(), fieldError.notSupported("dryRun", values, ["All"]));
    return values.length > 0;
  }

  #fieldValidation(): FieldValidation {
    const value = this.query.get("fieldValidation") ?? "";
    if (value === "Strict" || value === "Ignore") return value;
    if (fieldValidations.includes(value)) return "Warn";
    throw invalidOptions(this.#optionsKind(), fieldError.notSupported("fieldValidation", value, fieldValidations));
  }

  #optionsKind(): (typeof optionsOfMethod)[keyof typeof optionsOfMethod] {
    const { method } = this.info;
    return method === "PUT" || method === "PATCH" || method === "DELETE" ? optionsOfMethod[method] : "CreateOptions";
  }

  send(code: number, value: unknown, format?: ResponseFormat): void {
    if (format?.encoding === "yaml") {
      this.sendBytes(code, Buffer.from(stringifyYaml(value)), "application/yaml");
      return;
    }
    const text = format?.pretty === true ? `${JSON.stringify(value, undefined, 2)}\n` : `${JSON.stringify(value)}\n`;
    this.sendBytes(code, text, "application/json");
  }

  sendText(code: number, text: string): void {
    this.sendBytes(code, Buffer.from(text), "text/plain; charset=utf-8");
  }

  /** A text goes out in one piece with the headers; bytes are a second piece. */
  sendBytes(
    code: number,
    body: Buffer | string,
    contentType: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    this.#writeWarnings();
    response.writeHead(code, {
      "Content-Type": contentType,
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-cache, private",
      ...headers,
    });
    // Beside a text Node writes headers in UTF-8 too, and warnings are that already.
    const content = this.#warnings.length > 0 && typeof body === "string" ? Buffer.from(body) : body;
    response.end(this.request.method === "HEAD" ? undefined : content);
  }

  /** Begins an answer without a known end, such as a watch. */
  stream(contentType: string): ServerResponse {
    this.#writeWarnings();
    this.response.writeHead(200, { "Content-Type": contentType, "Cache-Control": "no-cache, private" });
    this.response.flushHeaders();
    return this.response;
  }

  sendError(error: StatusError): void {
    for (const [name, value] of Object.entries(error.headers)) {
      if (!this.response.headersSent) this.response.setHeader(name, value);
    }
    this.send(error.status.code, error.status);
  }

  #writeWarnings(): void {
    if (this.#warnings.length === 0) return;
    this.response.setHeader(
      "Warning",
      this.#warnings.map((text) => `299 - ${quote(text)}`),
    );
  }
}

/** A quoted string of HTTP: one line of visible characters, in UTF-8 as Kubernetes sends it. */
function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not get into a header
  const visible = text.replace(/[\u0000-\u001f\u007f]+/g, " ").replace(/[\\"]/g, "\\$&");
  // Node writes one byte per character of a header.
  return Buffer.from(`"${visible}"`, "utf8").toString("latin1");
}

const optionsOfMethod = {
  POST: "CreateOptions",
  PUT: "UpdateOptions",
  PATCH: "PatchOptions",
  DELETE: "DeleteOptions",
} as const;

const fieldValidations = ["", "Ignore", "Strict", "Warn"];

/** `kubectl/v1.32.0 (linux/amd64)` writes as `kubectl`. */
function userAgentName(agent: string | undefined): string {
  const name = (agent ?? "").split("/")[0]?.trim() ?? "";
  return (name === "" ? "unknown" : name).slice(0, 128);
}
