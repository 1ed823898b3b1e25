import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster } from "../cluster.ts";
import { runChaosOnBothStacks } from "./both-stacks.ts";
import { Random } from "./random.ts";

/** A short run of what `npm run test:chaos` does for ten minutes. */
describe("random kills under load", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
  });
  afterAll(() => cluster.destroy());

  it("end only the guests that were hit, and leave nothing behind", async () => {
    const lines: string[] = [];
    const reports = await runChaosOnBothStacks({
      cluster,
      random: new Random(2026),
      durationMs: 60_000,
      leastKinds: 3,
      say: (line) => lines.push(line),
    }).catch((error: unknown) => {
      throw new Error(`after:\n${lines.join("\n")}`, { cause: error });
    });
    for (const { hits, started, ended } of reports) {
      expect(Object.keys(hits).length).toBeGreaterThan(2);
      expect(ended).toBe(started);
    }
  }, 360_000);
});
