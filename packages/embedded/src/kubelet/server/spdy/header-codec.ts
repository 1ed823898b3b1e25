import { constants, createDeflate, createInflate, type Deflate, type Inflate } from "node:zlib";

/** Header names and values that the SPDY 3 draft preloads into the compressor, each with its length before it. */
const names = [
  ..."options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges".split(
    " ",
  ),
  ..."age allow authorization cache-control connection content-base content-encoding content-language".split(" "),
  ..."content-length content-location content-md5 content-range content-type date etag expect expires from".split(" "),
  ..."host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location".split(" "),
  ..."max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te".split(" "),
  ..."trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status".split(" "),
  "200 OK",
  ..."version HTTP/1.1 url public set-cookie keep-alive origin".split(" "),
];
/** The rest of the dictionary is plain text. */
const rest = [
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505",
  "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized",
  "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable",
  "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT",
  "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,",
  "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.",
];

export const dictionary = Buffer.concat([...names.map(withLength), Buffer.from(rest.join(""))]);

const maxHeaderBytes = 64 * 1024;

type Headers = ReadonlyMap<string, string>;

/** One direction's headers share one compression state for the whole connection. */
export class HeaderDecoder {
  readonly #inflate: Inflate = createInflate({ dictionary, finishFlush: constants.Z_SYNC_FLUSH });
  #tail: Promise<unknown> = Promise.resolve();

  decode(block: Buffer): Promise<Headers> {
    const next = this.#tail.then(async () => parseBlock(await run(this.#inflate, block)));
    this.#tail = next.catch(() => {});
    return next;
  }

  close(): void {
    this.#inflate.close();
  }
}

export class HeaderEncoder {
  readonly #deflate: Deflate = createDeflate({ dictionary });
  #tail: Promise<unknown> = Promise.resolve();

  encode(headers: Headers): Promise<Buffer> {
    const next = this.#tail.then(() => run(this.#deflate, formatBlock(headers)));
    this.#tail = next.catch(() => {});
    return next;
  }

  close(): void {
    this.#deflate.close();
  }
}

function run(stream: Inflate | Deflate, input: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const onData = (part: Buffer): void => {
      size += part.length;
      if (size > maxHeaderBytes) return finish(new RangeError("a SPDY header block is too large"));
      parts.push(part);
    };
    const finish = (error?: Error): void => {
      stream.off("data", onData);
      stream.off("error", finish);
      if (error === undefined) resolve(Buffer.concat(parts));
      else reject(error);
    };
    stream.on("data", onData);
    stream.once("error", finish);
    stream.write(input);
    stream.flush(constants.Z_SYNC_FLUSH, () => finish());
  });
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Count, then name and value of each header, all with 32-bit lengths. */
function formatBlock(headers: Headers): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(headers.size);
  return Buffer.concat([count, ...[...headers].flatMap(([name, value]) => [withLength(name), withLength(value)])]);
}

function parseBlock(block: Buffer): Headers {
  let offset = 0;
  const number = (): number => {
    const value = block.readUInt32BE(offset);
    offset += 4;
    return value;
  };
  const text = (): string => {
    const length = number();
    const value = block.toString("utf8", offset, offset + length);
    offset += length;
    return value;
  };
  const headers = new Map<string, string>();
  for (let left = number(); left > 0; left--) {
    const name = text();
    headers.set(name, text());
  }
  return headers;
}
