/** Whether no route leads into the /16 with this prefix (`10.99`) but the default route; `10.0.0.0/8` would. */
export function isNetworkFree(prefix: string, destinations: readonly string[]): boolean {
  const wanted = numberOf(`${prefix}.0.0`);
  return destinations.every((destination) => {
    const [address = "", length = "32"] = destination.split("/");
    // Two networks overlap when they agree in the bits that both have.
    const free = 32 - Math.min(Number(length), 16);
    const size = 2 ** free;
    return Math.floor(numberOf(address) / size) !== Math.floor(wanted / size);
  });
}

/** An IPv4 address as a number; NaN, which is equal to nothing, for anything else. */
function numberOf(address: string): number {
  const octets = address.split(".").map(Number);
  return octets.length === 4 ? octets.reduce((sum, octet) => sum * 256 + octet, 0) : Number.NaN;
}
