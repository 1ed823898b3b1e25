import type { DescMessage, DescMethodServerStreaming, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { socketPathOf, streamSettings } from "./grpc-address.ts";
import { defaultMaxMessageBytes, frameMessage, MessageSplitter } from "./grpc-frame.ts";
import { decodeMessage, encodeMessage, methodPath } from "./grpc-service.ts";
import { errorOf, readTrailers } from "./grpc-status.ts";

/**
 * Calls a method that streams its answer, over a connection of its own, and gives its messages as they come. Ends when the
 * server ends it well, throws when it fails or the connection breaks; stops asking when the signal is aborted.
 */
export async function* openServerStream<Input extends DescMessage, Output extends DescMessage>(
  method: DescMethodServerStreaming<Input, Output>,
  address: string,
  request: MessageInitShape<Input>,
  signal: AbortSignal,
): AsyncGenerator<MessageShape<Output>, void, void> {
  const path = methodPath(method);
  const session = connectHttp2("http://localhost", {
    createConnection: () => connect(socketPathOf(address)),
    settings: streamSettings,
  });
  // What breaks the connection breaks the stream as well, and is told there.
  session.on("error", () => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const stop = (): void => stream.close(constants.NGHTTP2_CANCEL);
  signal.addEventListener("abort", stop, { once: true });
  let trailers: Readonly<Record<string, unknown>> | undefined;
  stream.on("response", (headers) => {
    if ("grpc-status" in headers) trailers = headers;
  });
  stream.on("trailers", (headers) => (trailers = headers));
  stream.end(frameMessage(encodeMessage(method.input, request)));
  const splitter = new MessageSplitter(defaultMaxMessageBytes);
  const operation = `call ${path.slice(1)} at ${address}`;
  try {
    for await (const chunk of stream) {
      for (const message of splitter.push(chunk as Buffer)) {
        // The descriptor of the method names the type of its messages.
        yield decodeMessage(method.output, message) as MessageShape<Output>;
      }
    }
  } catch (cause) {
    if (signal.aborted) return;
    throw errorOf(operation, { status: "UNAVAILABLE", message: "the connection broke" }, cause);
  } finally {
    signal.removeEventListener("abort", stop);
    session.destroy();
  }
  if (signal.aborted) return;
  const failure = trailers === undefined ? brokenOff : readTrailers(trailers);
  if (failure !== undefined) throw errorOf(operation, failure);
}

const brokenOff = { status: "UNAVAILABLE", message: "the connection ended before the answer" } as const;
