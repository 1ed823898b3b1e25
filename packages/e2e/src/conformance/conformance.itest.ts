import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { statements } from "./statements/index.ts";
import { startEmbedded } from "./targets/embedded.ts";
import type { Target } from "./targets/target.ts";
import { createWorld } from "./world.ts";

// `npm run test:conformance` shows that the same statements hold on a real kube-apiserver.
describe.concurrent("the embedded API server", () => {
  let target: Target;
  beforeAll(async () => {
    target = await startEmbedded();
  });
  afterAll(() => target.stop());

  for (const { id, says, run } of statements) {
    it(`${id}: ${says}`, async () => {
      const transcript: string[] = [];
      try {
        await run(await createWorld(target, id, transcript));
      } catch (error) {
        throw new Error(`${String(error)}\n\nseen last:\n${transcript.slice(-2).join("\n")}`, { cause: error });
      }
      expect(transcript.length).toBeGreaterThan(0);
    });
  }
});
