import { describe, expect, it } from "vitest";
import { answerDhcp } from "./dhcp-answer.ts";
import {
  addressBytes,
  formatDhcpMessage,
  messageTypes,
  optionCode,
  parseDhcpMessage,
  type DhcpMessage,
} from "./dhcp-message.ts";
import type { Lease } from "./lease.ts";

const lease: Lease = {
  hardwareAddress: "02:00:00:00:00:01",
  address: "10.0.2.2",
  serverAddress: "10.0.2.1",
  options: new Map([
    [optionCode.leaseSeconds, Uint8Array.of(0, 1, 81, 128)],
    [optionCode.serverIdentifier, addressBytes("10.0.2.1")],
    [optionCode.router, addressBytes("10.0.2.1")],
  ]),
};

function ask(
  type: number | undefined,
  options: Readonly<Record<number, string>> = {},
  change: Partial<DhcpMessage> = {},
): { answer: DhcpMessage; to: string } | undefined {
  const packet = formatDhcpMessage({
    operation: "request",
    transactionId: 0x12_34_56_78,
    seconds: 3,
    flags: 0,
    clientAddress: "0.0.0.0",
    yourAddress: "0.0.0.0",
    serverAddress: "0.0.0.0",
    relayAddress: "0.0.0.0",
    hardwareAddress: lease.hardwareAddress,
    ...change,
    options: new Map([
      ...(type === undefined ? [] : [[optionCode.messageType, Uint8Array.of(type)] as const]),
      ...Object.entries(options).map(([code, address]) => [Number(code), addressBytes(address)] as const),
    ]),
  });
  const found = answerDhcp(packet, lease);
  const answer = found === undefined ? undefined : parseDhcpMessage(found.data);
  return found === undefined || answer === undefined ? undefined : { answer, to: found.to };
}

const typeOf = (message: DhcpMessage | undefined): number | undefined =>
  message?.options.get(optionCode.messageType)?.[0];

describe("answerDhcp", () => {
  it("offers the address with everything that belongs to it", () => {
    const { answer, to } = ask(messageTypes.discover) ?? {};
    expect(answer).toMatchObject({
      operation: "reply",
      transactionId: 0x12_34_56_78,
      yourAddress: "10.0.2.2",
      serverAddress: "10.0.2.1",
      hardwareAddress: "02:00:00:00:00:01",
    });
    expect(typeOf(answer)).toBe(messageTypes.offer);
    expect(answer?.options.get(optionCode.router)).toEqual(addressBytes("10.0.2.1"));
    expect(to).toBe("255.255.255.255");
  });

  it.each<[string, Record<number, string>, Partial<DhcpMessage>, number | undefined]>([
    [
      "our offer",
      { [optionCode.requestedAddress]: "10.0.2.2", [optionCode.serverIdentifier]: "10.0.2.1" },
      {},
      messageTypes.acknowledge,
    ],
    [
      "another server's offer",
      { [optionCode.requestedAddress]: "10.0.2.2", [optionCode.serverIdentifier]: "10.0.2.9" },
      {},
      undefined,
    ],
    ["what it had before a restart", { [optionCode.requestedAddress]: "10.0.2.2" }, {}, messageTypes.acknowledge],
    ["what it had elsewhere", { [optionCode.requestedAddress]: "192.168.1.7" }, {}, messageTypes.refuse],
    ["to keep what it has", {}, { clientAddress: "10.0.2.2" }, messageTypes.acknowledge],
    ["to keep what it never got", {}, { clientAddress: "10.0.2.77" }, messageTypes.refuse],
  ])("a client that requests %s", (_what, options, change, type) => {
    expect(typeOf(ask(messageTypes.request, options, change)?.answer)).toBe(type);
  });

  it("answers a client that has its address there, and trusts no other address", () => {
    expect(ask(messageTypes.request, {}, { clientAddress: "10.0.2.2" })?.to).toBe("10.0.2.2");
    expect(ask(messageTypes.request, {}, { clientAddress: "8.8.8.8" })?.to).toBe("255.255.255.255");
    expect(ask(messageTypes.inform, {}, { clientAddress: "8.8.8.8" })?.to).toBe("255.255.255.255");
  });

  it("gives a refusal no configuration and information no lease", () => {
    const refusal = ask(messageTypes.request, { [optionCode.requestedAddress]: "1.2.3.4" })?.answer;
    expect([...(refusal?.options.keys() ?? [])]).toEqual([optionCode.messageType, optionCode.serverIdentifier]);
    const information = ask(messageTypes.inform, {}, { clientAddress: "10.0.2.2" })?.answer;
    expect(information?.yourAddress).toBe("0.0.0.0");
    expect(information?.options.has(optionCode.leaseSeconds)).toBe(false);
    expect(information?.options.has(optionCode.router)).toBe(true);
  });

  it.each<[string, number | undefined, Partial<DhcpMessage>]>([
    ["another client", messageTypes.discover, { hardwareAddress: "02:00:00:00:00:02" }],
    ["a server", messageTypes.discover, { operation: "reply" }],
    ["a relay", messageTypes.discover, { relayAddress: "10.9.9.9" }],
    ["a client that gives its address back", messageTypes.release, {}],
    ["a client that declines", messageTypes.decline, {}],
    ["a client that says nothing", undefined, {}],
    ["a client that says something unknown", 99, {}],
  ])("is silent to %s", (_who, type, change) => {
    expect(ask(type, {}, change)).toBeUndefined();
  });
});
