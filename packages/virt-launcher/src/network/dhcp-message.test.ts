import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDhcpMessage, parseDhcpMessage, type DhcpMessage } from "./dhcp-message.ts";

const address = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((octets) => octets.join("."));
const mac = fc
  .uint8Array({ minLength: 6, maxLength: 6 })
  .map((bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(":"));
const message: fc.Arbitrary<DhcpMessage> = fc.record({
  operation: fc.constantFrom("request", "reply"),
  transactionId: fc.nat(0xff_ff_ff_ff),
  seconds: fc.nat(0xff_ff),
  flags: fc.nat(0xff_ff),
  clientAddress: address,
  yourAddress: address,
  serverAddress: address,
  relayAddress: address,
  hardwareAddress: mac,
  options: fc
    .array(fc.tuple(fc.integer({ min: 1, max: 254 }), fc.uint8Array({ maxLength: 300 })), { maxLength: 4 })
    .map((entries) => new Map(entries.map(([code, value]) => [code, Uint8Array.from(value)]))),
});

describe("DHCP messages", () => {
  it("come back as they were written, also with options that are too long for one part", () => {
    fc.assert(
      fc.property(message, (original) => {
        fc.pre(formatDhcpMessage(original).length <= 1500);
        expect(parseDhcpMessage(formatDhcpMessage(original))).toEqual(original);
      }),
    );
  });

  it("are long enough for every client", () => {
    fc.assert(fc.property(message, (original) => formatDhcpMessage(original).length >= 300));
  });

  it("survive any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
        expect(() => parseDhcpMessage(bytes)).not.toThrow();
      }),
    );
  });

  it("survive any change of single bytes, and any cut", () => {
    fc.assert(
      fc.property(
        message,
        fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 8 }),
        fc.nat(600),
        (original, changes, cut) => {
          const bytes = formatDhcpMessage(original);
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          expect(() => parseDhcpMessage(bytes.subarray(0, cut))).not.toThrow();
        },
      ),
    );
  });

  const valid = formatDhcpMessage({
    operation: "request",
    transactionId: 7,
    seconds: 0,
    flags: 0,
    clientAddress: "0.0.0.0",
    yourAddress: "0.0.0.0",
    serverAddress: "0.0.0.0",
    relayAddress: "0.0.0.0",
    hardwareAddress: "02:00:00:00:00:01",
    options: new Map([[53, Uint8Array.of(1)]]),
  });
  const changed = (at: number, value: number): Uint8Array =>
    Uint8Array.from(valid, (byte, index) => (index === at ? value : byte));

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["an unknown operation", changed(0, 3)],
    ["another kind of hardware", changed(1, 6)],
    ["a hardware address of another length", changed(2, 16)],
    ["no magic cookie", changed(236, 0)],
    ["an option that is longer than the packet", changed(241, 255)],
    ["an option without a length", valid.subarray(0, 241)],
    ["a packet that is longer than a frame", Uint8Array.from([...valid, ...new Uint8Array(1500)])],
  ])("are refused with %s", (_what, bytes) => {
    expect(parseDhcpMessage(valid)).toBeDefined();
    expect(parseDhcpMessage(bytes)).toBeUndefined();
  });
});
