import type { Clock } from "@polyvirt/core";
import { expect, it } from "vitest";
import { TokenCache } from "./token-cache.ts";

it("asks again when most of a token's life has passed, or when it was forgotten", async () => {
  let now = 0;
  const clock = { now: () => now } as Clock;
  const cache = new TokenCache(clock);
  let asked = 0;
  const get = (key: string): Promise<string> =>
    cache.get(key, async () => ({ token: `t${++asked}`, expiresAt: now + 1000 }));
  expect(await get("pod/a")).toBe("t1");
  now = 799;
  expect(await get("pod/a")).toBe("t1");
  now = 800;
  expect(await get("pod/a")).toBe("t2");
  expect(await get("pod/b")).toBe("t3");
  cache.forget("pod/");
  expect(await get("pod/a")).toBe("t4");
});
