import { defineConfig } from "vitest/config";

// Unit tests are `x.test.ts` beside their source. `x.itest.ts` starts real programs (QEMU, kubectl, servers) and may take
// seconds; both run in `./polyvirt test`.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          setupFiles: ["tools/test-setup.ts"],
          include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts", "examples/**/*.test.ts"],
        },
      },
      {
        test: {
          name: "integration",
          setupFiles: ["tools/test-setup.ts"],
          include: ["packages/*/src/**/*.itest.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["packages/e2e/src/**/*.e2e.ts"],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          // Each file has a cluster and guests of its own; two cores carry one at a time.
          fileParallelism: false,
        },
      },
    ],
  },
});
