import { describe, expect, it } from "vitest";
import { ProbeNews } from "./probe-news.ts";

function setUp() {
  const told: string[] = [];
  const news = new ProbeNews((message) => told.push(message));
  const exits = (exitCode: number) =>
    news.watch(
      "test -e /ready",
      async () => exitCode,
      (code) => (code === 0 ? undefined : `exit code ${code}`),
    );
  return { told, news, exits };
}

describe("ProbeNews", () => {
  it("tells once, each time that a probe begins to fail", async () => {
    const { told, exits } = setUp();
    for (const code of [0, 1, 1, 2, 0, 3]) expect(await exits(code)).toBe(code);
    expect(told).toEqual(["test -e /ready: exit code 1", "test -e /ready: exit code 3"]);
  });

  it("hands on failures, and tells of them in printable words of some length", async () => {
    const { told, news, exits } = setUp();
    const ping = news.watch(
      "ping",
      () => Promise.reject(new Error(`no\u001b[2J${"x".repeat(5_000)}`)),
      () => undefined,
    );
    await expect(ping).rejects.toThrow("no");
    await exits(1);
    expect(told[0]?.slice(0, 13)).toBe("ping: no [2Jx");
    expect(told[0]).toHaveLength(512);
    expect(told).toHaveLength(2);
  });
});
