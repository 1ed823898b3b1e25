import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openImageCatalogue, parseCatalogue } from "./image-catalogue.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "catalogue-"));
  file = path.join(directory, "images.json");
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

describe("image catalogue", () => {
  it("keeps what was added, for everybody who reads the file", () => {
    const catalogue = openImageCatalogue(file);
    expect(catalogue.find("demo:1")).toBeUndefined();
    catalogue.add("demo:1", { command: ["/bin/true"] });
    catalogue.add("other:latest", { command: ["/bin/false"], environment: { A: "1" }, files: { "/opt/x": "/srv/x" } });
    const again = openImageCatalogue(file);
    expect(again.find("demo:1")).toEqual({ command: ["/bin/true"] });
    expect(again.find("other")).toEqual({
      command: ["/bin/false"],
      environment: { A: "1" },
      files: { "/opt/x": "/srv/x" },
    });
    expect(again.remove("demo:1")).toBe(true);
    expect(again.remove("demo:1")).toBe(false);
    expect(catalogue.list().map(([reference]) => reference)).toEqual(["other:latest"]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["{", "not JSON"],
    ["{}", 'no "images"'],
    ['{"images":{"a":{}}}', "image a has no command"],
    ['{"images":{"a":{"command":[]}}}', "image a has no command"],
    ['{"images":{"a":{"command":"sh"}}}', "image a has no command"],
    ['{"images":{"a":{"command":["sh"],"environment":{"A":1}}}}', "environment of image a"],
    ['{"images":{"a":{"command":["sh"],"files":{"/opt/x":"relative"}}}}', "files of image a"],
  ])("refuses %s", (text, message) => {
    expect(() => parseCatalogue(text, "images.json")).toThrow(message);
  });
});
