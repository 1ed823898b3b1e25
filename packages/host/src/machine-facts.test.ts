import { describe, expect, it } from "vitest";
import { machineFacts, parseOsImage } from "./machine-facts.ts";

describe("machineFacts", () => {
  it("describes this machine", () => {
    const facts = machineFacts("/");
    expect(facts.cpus).toBeGreaterThan(0);
    expect(facts.memoryBytes).toBeGreaterThan(1e6);
    expect(facts.diskBytes).toBeGreaterThan(1e6);
    expect(facts.bootId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n', "Debian GNU/Linux 12 (bookworm)"],
    ["", "Linux"],
  ])("reads the name of the system from %j", (text, name) => {
    expect(parseOsImage(text)).toBe(name);
  });
});
