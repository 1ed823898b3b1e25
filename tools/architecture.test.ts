import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "./repository.ts";

/** The page names files by their end, such as `instance/plan.ts`, once the package was named before. */
describe("ARCHITECTURE.md", () => {
  const page = readFileSync(join(repositoryRoot, "ARCHITECTURE.md"), "utf8");
  const files = execFileSync("git", ["ls-files"], { cwd: repositoryRoot, encoding: "utf8" }).split("\n");
  const named = [...new Set([...page.matchAll(/`([\w/.-]+\.ts)`/g)].map((match) => match[1] ?? ""))];

  it("names files at all", () => {
    expect(named.length).toBeGreaterThan(30);
  });

  it.each(named)("names %s, which exists", (path) => {
    expect(files.some((file) => `/${file}`.endsWith(`/${path}`))).toBe(true);
  });
});
