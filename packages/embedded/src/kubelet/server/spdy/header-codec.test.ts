import { describe, expect, it } from "vitest";
import { dictionary, HeaderDecoder, HeaderEncoder } from "./header-codec.ts";

describe("SPDY headers", () => {
  it("have the dictionary of the SPDY 3 draft", () => {
    // The checksum that every SPDY 3 stream carries in its first bytes.
    expect(adler32(dictionary).toString(16)).toBe("e3c6a7c2");
  });

  it("go both ways over one compression state, several times", async () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder();
    for (const headers of [
      { streamtype: "data", port: "80", requestid: "0" },
      {},
      { streamtype: "error", port: "80" },
    ]) {
      const block = await encoder.encode(new Map(Object.entries(headers)));
      expect(Object.fromEntries(await decoder.decode(block))).toEqual(headers);
    }
    encoder.close();
    decoder.close();
  });

  it("refuse a block that is not compressed headers", async () => {
    const decoder = new HeaderDecoder();
    await expect(decoder.decode(Buffer.from("nonsense"))).rejects.toThrow("incorrect header check");
    decoder.close();
  });
});

function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return ((b << 16) | a) >>> 0;
}
