import type { IncomingMessage } from "node:http";
import { imageErrors } from "../errors.ts";
import { manifestTypes, type Descriptor } from "../oci-layout.ts";
import { sha256 } from "../digest.ts";
import { parseChallenge } from "./challenge.ts";
import { httpGet, readBody, type HttpAnswer } from "./http-get.ts";
import type { RegistryCredentials, RegistryEndpoint } from "./registries.ts";

/** A manifest or an index, whose bytes fit its digest. */
export interface FetchedManifest {
  readonly descriptor: Descriptor;
  readonly bytes: Buffer;
}

const maxManifestBytes = 4 * 1024 * 1024;

/** One repository of one registry, over its HTTP API (distribution-spec 1.1). */
export class RegistryClient {
  readonly #endpoint: RegistryEndpoint;
  /** For messages. */
  readonly #reference: string;
  readonly #repository: string;
  readonly #credentials: RegistryCredentials | undefined;
  #authorization: string | undefined;
  #protocol: "https:" | "http:" = "https:";

  constructor(
    endpoint: RegistryEndpoint,
    image: { readonly reference: string; readonly repository: string },
    credentials: RegistryCredentials | undefined,
  ) {
    this.#endpoint = endpoint;
    this.#reference = image.reference;
    this.#repository = `${endpoint.prefix}${image.repository}`;
    this.#credentials = credentials;
  }

  async manifest(version: string): Promise<FetchedManifest> {
    const answer = await this.#get(`manifests/${version}`, { accept: manifestTypes.join(", ") });
    const bytes = await readBody(answer.body, maxManifestBytes);
    const digest = sha256(bytes);
    if (version.startsWith("sha256:") && digest !== version) throw this.#corrupt(`manifest ${version}`);
    const mediaType = mediaTypeOf(answer, bytes);
    if (!manifestTypes.includes(mediaType)) {
      throw imageErrors.ImageCorrupt(
        `pull ${this.#reference}: ${this.#endpoint.host} answers with "${mediaType}", which is no image`,
      );
    }
    return { descriptor: { mediaType, digest, size: bytes.length }, bytes };
  }

  /** The bytes of a layer or configuration, which the caller compares with the digest. */
  async blob(digest: string): Promise<IncomingMessage> {
    return (await this.#get(`blobs/${digest}`, {})).body;
  }

  async #get(path: string, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    let answer = await this.#send(path, headers);
    if (answer.status === 401 && this.#authorization === undefined) {
      answer.body.destroy();
      this.#authorization = await this.#authorize(answer.headers["www-authenticate"]);
      answer = await this.#send(path, headers);
    }
    if (answer.status === 200) return answer;
    answer.body.destroy();
    throw this.#refusal(answer.status, path);
  }

  async #send(path: string, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    const all = { ...headers, ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }) };
    const url = (): URL => new URL(`${this.#protocol}//${this.#endpoint.host}/v2/${this.#repository}/${path}`);
    try {
      return await httpGet(url(), { headers: all, endpoint: this.#endpoint });
    } catch (cause) {
      if (!this.#endpoint.insecure || this.#protocol === "http:") throw this.#unreachable(cause);
      // A registry that may be insecure may also have no TLS at all.
      this.#protocol = "http:";
      try {
        return await httpGet(url(), { headers: all, endpoint: this.#endpoint });
      } catch {
        throw this.#unreachable(cause);
      }
    }
  }

  async #authorize(header: string | undefined): Promise<string> {
    const challenge = parseChallenge(header);
    const basic = this.#credentials === undefined ? undefined : basicAuthorization(this.#credentials);
    if (challenge?.scheme === "bearer") return this.#fetchToken(challenge.realm, challenge.parameters, basic);
    if (challenge?.scheme === "basic" && basic !== undefined) return basic;
    throw imageErrors.ImageAccessDenied(
      `pull ${this.#reference}: ${this.#endpoint.host} wants credentials; give the pod an image pull secret`,
      { fields: { reference: this.#reference } },
    );
  }

  async #fetchToken(
    realm: string,
    parameters: Readonly<Record<string, string>>,
    basic: string | undefined,
  ): Promise<string> {
    const url = new URL(realm);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    if (parameters["scope"] === undefined) url.searchParams.set("scope", `repository:${this.#repository}:pull`);
    // SAFETY: the realm is the registry's word; credentials go there only under TLS, or where TLS is waived.
    if (url.protocol !== "https:" && !this.#endpoint.insecure) {
      throw imageErrors.ImageAccessDenied(
        `pull ${this.#reference}: ${this.#endpoint.host} wants its token without TLS`,
      );
    }
    const headers: Record<string, string> = basic === undefined ? {} : { authorization: basic };
    const answer = await httpGet(url, { headers, endpoint: this.#endpoint }).catch((cause: unknown) => {
      throw this.#unreachable(cause);
    });
    const body = await readBody(answer.body, maxManifestBytes);
    if (answer.status !== 200) throw this.#refusal(answer.status, "token");
    // Either name is in use; anything else is no token.
    const { token, access_token: accessToken } = JSON.parse(body.toString("utf8")) as Record<string, unknown>;
    const found = token ?? accessToken;
    if (typeof found !== "string") throw this.#refusal(answer.status, "token");
    return `Bearer ${found}`;
  }

  #refusal(status: number, path: string): Error {
    const message = `pull ${this.#reference}: ${this.#endpoint.host} answers ${status} to ${path}`;
    const details = { fields: { reference: this.#reference, status } };
    if (status === 404) return imageErrors.ImageUnknown(`${message}: there is no such image`, details);
    if (status === 401 || status === 403) return imageErrors.ImageAccessDenied(message, details);
    return imageErrors.ImageRegistryFailed(message, details);
  }

  #unreachable(cause: unknown): Error {
    const words = cause instanceof Error ? cause.message : String(cause);
    return imageErrors.ImageRegistryFailed(`pull ${this.#reference} from ${this.#endpoint.host}: ${words}`, {
      cause,
      fields: { reference: this.#reference },
    });
  }

  #corrupt(what: string): Error {
    return imageErrors.ImageCorrupt(`pull ${this.#reference}: ${what} does not have its digest`);
  }
}

function basicAuthorization({ username, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function mediaTypeOf(answer: HttpAnswer, bytes: Buffer): string {
  const header = answer.headers["content-type"]?.split(";")[0]?.trim();
  if (header !== undefined && manifestTypes.includes(header)) return header;
  try {
    // Some registries answer with a general type; the manifest knows its own.
    const { mediaType } = JSON.parse(bytes.toString("utf8")) as { mediaType?: string };
    return mediaType ?? header ?? "";
  } catch {
    return header ?? "";
  }
}
