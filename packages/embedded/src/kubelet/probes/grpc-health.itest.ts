import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { encodeRequest, probeGrpc } from "./grpc-health.ts";

let server: http2.Http2Server | undefined;
afterEach(() => void server?.close());

/** A server that answers every call with this message and status. */
async function serve(message: number[] | undefined, status: string): Promise<{ port: number; asked: Buffer[] }> {
  const asked: Buffer[] = [];
  const started = http2.createServer();
  server = started;
  started.on("stream", (stream) => {
    stream.on("data", (data: Buffer) => asked.push(data));
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status }));
      stream.end(message === undefined ? undefined : Buffer.from([0, 0, 0, 0, message.length, ...message]));
    });
  });
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has such an address.
  return { port: (started.address() as AddressInfo).port, asked };
}

const probe = (port: number, service = "") => probeGrpc(http2.connect(`http://127.0.0.1:${port}`), service, 2000);

describe("a gRPC probe", () => {
  it.each([
    ["serves", [8, 1], "0", { success: true, message: "" }],
    ["does not serve", [8, 2], "0", { success: false, message: 'service unhealthy (responded with "NOT_SERVING")' }],
    ["knows nothing", [], "0", { success: false, message: 'service unhealthy (responded with "UNKNOWN")' }],
    ["has no such service", undefined, "5", { success: false, message: "error: health rpc failed with status 5" }],
  ])("of a server that %s", async (_name, message, status, expected) => {
    const { port, asked } = await serve(message, status);
    expect(await probe(port, "a.Service")).toEqual(expected);
    expect(Buffer.concat(asked)).toEqual(encodeRequest("a.Service"));
  });

  it("of nobody fails", async () => {
    const { port } = await serve([8, 1], "0");
    await new Promise((resolve) => server?.close(resolve));
    expect(await probe(port)).toMatchObject({ success: false });
  });

  it("gives up after its limit", async () => {
    const started = http2.createServer();
    server = started;
    await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
    // As above.
    const { port } = started.address() as AddressInfo;
    const session = http2.connect(`http://127.0.0.1:${port}`);
    expect(await probeGrpc(session, "", 50)).toEqual({
      success: false,
      message: "timeout: health rpc did not complete within 0.05s",
    });
  });
});
