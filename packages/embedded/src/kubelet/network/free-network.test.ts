import { describe, expect, it } from "vitest";
import { isNetworkFree } from "./free-network.ts";

describe("isNetworkFree", () => {
  it.each<[string, string[], boolean]>([
    ["10.99", [], true],
    ["10.99", ["192.0.2.0/24", "127.0.0.1", "10.98.0.0/16", "10.100.3.4"], true],
    ["10.99", ["10.99.0.0/16"], false],
    ["10.99", ["10.99.7.0/24"], false],
    ["10.99", ["10.99.7.1"], false],
    ["10.99", ["10.0.0.0/8"], false],
    ["10.99", ["10.96.0.0/12"], false],
    ["10.112", ["10.96.0.0/12"], true],
    ["10.99", ["broken"], true],
  ])("%s beside %j: %s", (prefix, destinations, free) => {
    expect(isNetworkFree(prefix, destinations)).toBe(free);
  });
});
