/**
 * The conformance suite of the stack contract. It runs under any test runner and needs nothing of Polyvirt but this
 * package, so that a stack in another repository can be examined like the ones here. Start with `harness.ts`.
 */
import type { MakeStack, TestRunner } from "./harness.ts";
import { hotplugSuite } from "./hotplug-suite.ts";
import { lifecycleSuite } from "./lifecycle-suite.ts";
import { migrationSuite } from "./migration-suite.ts";
import { partsSuite } from "./parts-suite.ts";

export { bootSectorGreeting, bootSectorImage } from "./boot-sector.ts";
export { bootSectorSamples } from "./boot-sector-samples.ts";
export { ConsoleClient } from "./console-client.ts";
export type { HotplugSamples, MakeStack, MigrationSamples, StackUnderTest, TestRunner } from "./harness.ts";

/** Defines the tests of the contract for one stack. `makeStack` is called once for each test. */
export function describeStackConformance(name: string, makeStack: MakeStack, runner: TestRunner): void {
  runner.describe(`stack conformance: ${name}`, () => {
    lifecycleSuite(runner, makeStack);
    partsSuite(runner, makeStack);
    runner.describe("hotplug", () => hotplugSuite(runner, makeStack));
    runner.describe("migration", () => migrationSuite(runner, makeStack));
  });
}
