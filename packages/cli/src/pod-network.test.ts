import { describe, expect, it } from "vitest";
import { listeningSecondOctets } from "./pod-network.ts";

describe("listeningSecondOctets", () => {
  it("reads the kernel's table of sockets", () => {
    const table = [
      "  sl  local_address rem_address   st tx_queue rx_queue",
      "   0: 0100007F:192B 00000000:0000 0A 00000000:00000000",
      "   1: 0200467F:20FB 00000000:0000 0A 00000000:00000000",
      "   2: 00000000:0016 00000000:0000 0A 00000000:00000000",
    ].join("\n");
    expect(listeningSecondOctets(table)).toEqual([0, 70]);
  });
});
