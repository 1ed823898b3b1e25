import { defineConfig } from "vitest/config";

// Unit tests are `x.test.ts` beside their source. `x.itest.ts` starts real programs (QEMU, kubectl, servers) and may take
// seconds; both run in `./polyvirt test`.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { test: { name: "unit", include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts"] } },
      {
        test: {
          name: "integration",
          include: ["packages/*/src/**/*.itest.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
