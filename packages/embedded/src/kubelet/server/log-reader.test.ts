import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseLogOptions, type LogOptions } from "./log-options.ts";
import { readLog } from "./log-reader.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "log-reader-"));
  file = path.join(directory, "0.log");
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const line = (second: number, text: string, stream = "stdout", tag = "F"): string =>
  `2026-01-01T00:00:${String(second).padStart(2, "0")}.000000000Z ${stream} ${tag} ${text}\n`;

async function read(options: Partial<LogOptions>): Promise<string> {
  const source = { file, isRunning: () => false, onEnd: () => {} };
  const all = { follow: false, previous: false, timestamps: false, ...options };
  const parts: Buffer[] = [];
  for await (const part of readLog(source, all, new AbortController().signal)) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe("readLog", () => {
  beforeEach(() => {
    fs.writeFileSync(`${file}.1`, line(1, "one") + line(2, "two", "stderr"));
    fs.writeFileSync(file, line(3, "th", "stdout", "P") + line(3, "ree") + line(4, "four"));
  });

  it.each([
    ["everything, from the oldest file on", {}, "one\ntwo\nthree\nfour\n"],
    ["the last line", { tailLines: 1 }, "four\n"],
    ["a last line of several pieces", { tailLines: 2 }, "three\nfour\n"],
    ["last lines over files", { tailLines: 3 }, "two\nthree\nfour\n"],
    ["no line", { tailLines: 0 }, ""],
    ["more lines than there are", { tailLines: 100 }, "one\ntwo\nthree\nfour\n"],
    ["lines since a time", { since: Date.parse("2026-01-01T00:00:03Z") }, "three\nfour\n"],
    ["the first bytes", { limitBytes: 6 }, "one\ntw"],
    ["one stream", { stream: "stderr" as const }, "two\n"],
    [
      "times, once a line",
      { timestamps: true, tailLines: 2 },
      "2026-01-01T00:00:03.000000000Z three\n2026-01-01T00:00:04.000000000Z four\n",
    ],
    ["everything and then the end, following a container that has ended", { follow: true }, "one\ntwo\nthree\nfour\n"],
  ])("gives %s", async (_name, options, expected) => {
    expect(await read(options)).toBe(expected);
  });

  it("gives nothing for a container that has logged nothing", async () => {
    fs.rmSync(file);
    fs.rmSync(`${file}.1`);
    expect(await read({})).toBe("");
  });

  it("follows a running container until it ends", async () => {
    let wake: () => void = () => {};
    let running = true;
    const pump = {
      drain: () => {},
      finish: () => {},
      close: () => {},
      onAppend: (listener: () => void) => ((wake = listener), () => {}),
    };
    const source = { file, pump, isRunning: () => running, onEnd: () => {} };
    const options = { follow: true, previous: false, timestamps: false, tailLines: 0 };
    const lines = readLog(source, options, new AbortController().signal);
    const first = lines.next();
    fs.appendFileSync(file, line(5, "five"));
    await Promise.resolve();
    wake();
    expect((await first).value?.toString()).toBe("five\n");
    running = false;
    expect((await lines.next()).done).toBe(true);
  });
});

describe("parseLogOptions", () => {
  const now = Date.parse("2026-01-01T00:01:00Z");
  it.each([
    ["", { follow: false, previous: false, timestamps: false }],
    ["follow=true&previous=1&timestamps=", { follow: true, previous: true, timestamps: true }],
    ["tailLines=5&limitBytes=10", { tailLines: 5, limitBytes: 10 }],
    ["sinceSeconds=10", { since: now - 10_000 }],
    ["sinceTime=2026-01-01T00:00:00Z", { since: now - 60_000 }],
  ])("reads %j", (query, expected) => {
    expect(parseLogOptions(new URLSearchParams(query), now)).toMatchObject(expected);
  });

  it.each(["tailLines=-1", "tailLines=x", "sinceTime=yesterday"])("refuses %j", (query) => {
    expect(typeof parseLogOptions(new URLSearchParams(query), now)).toBe("string");
  });
});
