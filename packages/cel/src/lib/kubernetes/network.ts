import { sizeOf, traverse } from "../../cost-rules.ts";
import { args, declare, global, member, type CallCost, type FunctionDeclaration } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { BOOL, INT, STRING, opaque, type Type } from "../../types.ts";
import { CelError, CelObject, type Value } from "../../values.ts";
import {
  containsAddress,
  containsNetwork,
  formatAddress,
  isGlobalUnicast,
  isIpv4Mapped,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  maskNetwork,
  parseAddress,
  parseNetwork,
  widthOf,
  type Address,
  type Network,
} from "./ip-address.ts";

const IP: Type = opaque("net.IP");
const CIDR: Type = opaque("net.CIDR");

class IpValue extends CelObject {
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }

  get typeName(): string {
    return "net.IP";
  }

  override get size(): number {
    return widthOf(this.address) / 8;
  }

  override equals(other: Value): boolean {
    return (
      other instanceof IpValue &&
      other.address.family === this.address.family &&
      other.address.bits === this.address.bits
    );
  }

  override toString(): string {
    return formatAddress(this.address);
  }

  override toJson(): unknown {
    return this.toString();
  }
}

class CidrValue extends CelObject {
  readonly network: Network;

  constructor(network: Network) {
    super();
    this.network = network;
  }

  get typeName(): string {
    return "net.CIDR";
  }

  override get size(): number {
    return Math.ceil(this.network.prefixLength / 8);
  }

  override equals(other: Value): boolean {
    return other instanceof CidrValue && other.toString() === this.toString();
  }

  override toString(): string {
    return `${formatAddress(this.network.address)}/${this.network.prefixLength}`;
  }

  override toJson(): unknown {
    return this.toString();
  }
}

function toIp(text: string): IpValue | CelError {
  const quoted = JSON.stringify(text);
  if (text.includes("%") && parseAddress(text.split("%", 1)[0] ?? "")?.family === 6) {
    return new CelError(`IP address ${quoted} with zone value is not allowed`);
  }
  const address = parseAddress(text);
  if (address === undefined) {
    const isShort = /^\d+(?:\.\d+){1,2}$/.test(text);
    const problem = `ParseAddr(${quoted}): ${isShort ? "IPv4 address too short" : "unable to parse IP"}`;
    return new CelError(`IP Address ${quoted} parse error during conversion from string: ${problem}`);
  }
  return isIpv4Mapped(address)
    ? new CelError(`IPv4-mapped IPv6 address ${quoted} is not allowed`)
    : new IpValue(address);
}

function toCidr(text: string): CidrValue | CelError {
  // Kubernetes says it twice.
  const prefix = "network address parse error during conversion from string: ";
  const quoted = JSON.stringify(text);
  const network = parseNetwork(text);
  if (network === undefined) {
    const isLong = parseNetwork(text.replace(/\/\d+$/, "/0")) !== undefined;
    const problem = isLong ? "prefix length out of range" : text.includes("/") ? "invalid prefix" : "no '/'";
    return new CelError(`${prefix}${prefix}netip.ParsePrefix(${quoted}): ${problem}`);
  }
  return isIpv4Mapped(network.address)
    ? new CelError(`${prefix}IPv4-mapped IPv6 address ${quoted} is not allowed`)
    : new CidrValue(network);
}

const ip = args.object(IP, IpValue);
const cidr = args.object(CIDR, CidrValue);
const parsing: CallCost = ([text]) => traverse(text);

const test = (name: string, id: string, check: (address: Address) => boolean): FunctionDeclaration =>
  declare(name, [member(id, [ip], BOOL, ({ address }) => check(address))]);

/** Comparing as many bytes as the prefix has, twice; parsing when the other side is text. */
const containing =
  (textOverload: string, extra: (size: number) => number): CallCost =>
  ([network = null, other = null], _result, id) => {
    const size = sizeOf(network);
    return Math.ceil(size * 0.2) + extra(size) + (id === textOverload ? traverse(other) : 0);
  };

const ifValid = <T extends Value>(value: T | CelError, use: (value: T) => Value): Value =>
  value instanceof CelError ? value : use(value);

const ipFunctions: readonly FunctionDeclaration[] = [
  declare("ip", [global("string_to_ip", [args.string], IP, toIp)], {
    cost: ([value], _result, id) => (id === "cidr_ip" ? 1 : traverse(value)),
  }),
  declare(
    "ip.isCanonical",
    [
      global("ip_is_canonical", [args.string], BOOL, (text) =>
        ifValid(toIp(text), (value) => value.toString() === text),
      ),
    ],
    { cost: ([text]) => traverse(text, 0.2) },
  ),
  declare("isIP", [global("is_ip", [args.string], BOOL, (text) => toIp(text) instanceof IpValue)], { cost: parsing }),
  declare("family", [member("ip_family", [ip], INT, ({ address }) => address.family)]),
  declare("string", [global("ip_to_string", [ip], STRING, String)]),
  test("isUnspecified", "ip_is_unspecified", isUnspecified),
  test("isLoopback", "ip_is_loopback", isLoopback),
  test("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
  test("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
  test("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
];

const cidrFunctions: readonly FunctionDeclaration[] = [
  declare("cidr", [global("string_to_cidr", [args.string], CIDR, toCidr)], { cost: parsing }),
  declare("isCIDR", [global("is_cidr", [args.string], BOOL, (text) => toCidr(text) instanceof CidrValue)], {
    cost: parsing,
  }),
  declare(
    "containsIP",
    [
      member("cidr_contains_ip_string", [cidr, args.string], BOOL, ({ network }, text) =>
        ifValid(toIp(text), (other) => containsAddress(network, other.address)),
      ),
      member("cidr_contains_ip_ip", [cidr, ip], BOOL, ({ network }, other) => containsAddress(network, other.address)),
    ],
    { cost: containing("cidr_contains_ip_string", () => 0) },
  ),
  declare(
    "containsCIDR",
    [
      member("cidr_contains_cidr_string", [cidr, args.string], BOOL, ({ network }, text) =>
        ifValid(toCidr(text), (other) => containsNetwork(network, other.network)),
      ),
      member("cidr_contains_cidr", [cidr, cidr], BOOL, (outer, inner) => containsNetwork(outer.network, inner.network)),
    ],
    { cost: containing("cidr_contains_cidr_string", (size) => Math.ceil(size * 0.1) + 1) },
  ),
  declare("ip", [member("cidr_ip", [cidr], IP, ({ network }) => new IpValue(network.address))]),
  declare("prefixLength", [member("cidr_prefix_length", [cidr], INT, ({ network }) => network.prefixLength)]),
  declare("masked", [member("cidr_masked", [cidr], CIDR, ({ network }) => new CidrValue(maskNetwork(network)))]),
  declare("string", [global("cidr_to_string", [cidr], STRING, String)]),
];

export const ipLibrary: Library = { name: "kubernetes.net.ip", functions: ipFunctions, types: { "net.IP": IP } };
export const cidrLibrary: Library = {
  name: "kubernetes.net.cidr",
  functions: cidrFunctions,
  types: { "net.CIDR": CIDR },
};
