import { describe, expect, it } from "vitest";
import { FrameError, frameMessage, MessageReader } from "./grpc-frame.ts";

function read(bytes: Buffer, maxBytes = 100): Buffer {
  const reader = new MessageReader(maxBytes);
  for (const byte of bytes) reader.push(Buffer.from([byte]));
  return reader.finish();
}

describe("gRPC framing", () => {
  it.each([Buffer.alloc(0), Buffer.from("hello")])("carries %s", (message) => {
    expect(read(frameMessage(message))).toEqual(message);
  });

  it("is five bytes of header", () => {
    expect(frameMessage(Buffer.from("ab")).toString("hex")).toBe("00000000026162");
  });

  it.each<[string, Buffer]>([
    ["missing", Buffer.alloc(0)],
    ["compressed", Buffer.from("010000000161", "hex")],
    ["has not the length", Buffer.from("000000000261", "hex")],
    ["larger than", frameMessage(Buffer.alloc(101))],
  ])("refuses a message that is %s", (words, bytes) => {
    expect(() => read(bytes)).toThrow(FrameError);
    expect(() => read(bytes)).toThrow(words);
  });
});
