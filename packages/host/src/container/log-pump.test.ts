import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Clock } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseLogLine } from "./log-format.ts";
import { createLogPump, type LogPump } from "./log-pump.ts";

let directory: string;
let logFile: string;
let pump: LogPump;
let timers: (() => void)[];

const clock: Clock = {
  now: () => Date.parse("2026-01-01T00:00:00Z"),
  monotonic: () => 0,
  setTimer(_delay, callback) {
    timers.push(callback);
    return { cancel: () => timers.splice(timers.indexOf(callback), timers.includes(callback) ? 1 : 0) };
  },
  sleep: () => Promise.resolve(),
};

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "log-pump-"));
  logFile = path.join(directory, "logs/0.log");
  timers = [];
  write("stdout", "");
  write("stderr", "");
  pump = createLogPump({ directory, logFile, clock });
});
afterEach(() => {
  pump.close();
  fs.rmSync(directory, { recursive: true });
});

function write(stream: string, text: string): void {
  fs.appendFileSync(path.join(directory, stream), text);
}

function entries(): string[] {
  if (!fs.existsSync(logFile)) return [];
  const lines = fs.readFileSync(logFile, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const entry = parseLogLine(Buffer.from(line));
    return `${entry?.stream} ${entry?.complete === true ? "F" : "P"} ${entry?.text.toString()}`;
  });
}

function runTimers(): void {
  for (let timer = timers.shift(); timer !== undefined; timer = timers.shift()) timer();
}

describe("log pump", () => {
  it("tells lines and streams apart", () => {
    write("stdout", "one\ntwo\n");
    write("stderr", "bad\n");
    pump.drain();
    expect(entries()).toEqual(["stdout F one", "stdout F two", "stderr F bad"]);
    expect(fs.readFileSync(logFile, "utf8")).toContain("2026-01-01T00:00:00.000000000Z stdout F one\n");
  });

  it("waits for the end of a line, but not after the container's end", () => {
    write("stdout", "half");
    pump.drain();
    expect(entries()).toEqual([]);
    write("stdout", " a line\nrest");
    pump.drain();
    expect(entries()).toEqual(["stdout F half a line"]);
    pump.finish();
    expect(entries()).toEqual(["stdout F half a line", "stdout P rest"]);
  });

  it("splits very long lines", () => {
    write("stdout", `${"x".repeat(20_000)}\n`);
    pump.drain();
    expect(entries().map((entry) => `${entry.slice(0, 8)} ${entry.length - 9}`)).toEqual([
      "stdout P 16384",
      "stdout F 3616",
    ]);
  });

  it("goes on where an earlier one was killed, without losing or repeating a line", () => {
    write("stdout", "one\n");
    pump.drain();
    pump.close();
    const progress = fs.readFileSync(path.join(directory, "log-progress"), "utf8");
    write("stdout", "two\n");
    const second = createLogPump({ directory, logFile, clock });
    second.close();
    // As if it had been killed between appending to the log and recording how far it came.
    fs.writeFileSync(path.join(directory, "log-progress"), progress);
    pump = createLogPump({ directory, logFile, clock });
    write("stdout", "three\n");
    pump.drain();
    expect(entries()).toEqual(["stdout F one", "stdout F two", "stdout F three"]);
  });

  it("survives a container that cuts its own output off", () => {
    write("stdout", "one\n");
    pump.drain();
    fs.truncateSync(path.join(directory, "stdout"), 0);
    pump.drain();
    write("stdout", "two\n");
    pump.drain();
    expect(entries()).toEqual(["stdout F one", "stdout F two"]);
  });

  it("takes a flood in turns", () => {
    write("stdout", `${"y".repeat(1023)}\n`.repeat(4096));
    pump.drain();
    const first = entries().length;
    expect(first).toBeLessThan(4096);
    runTimers();
    expect(entries().length).toBe(4096);
  });

  it("rotates, keeps the last files, and gives the raw output's space back", () => {
    pump.close();
    pump = createLogPump({ directory, logFile, clock, maxBytes: 1000, keep: 3 });
    for (const round of [1, 2, 3, 4]) {
      write("stdout", `${round} ${"z".repeat(1200)}\n`);
      pump.drain();
    }
    const kept = fs.readdirSync(path.dirname(logFile)).sort();
    expect(kept).toEqual(["0.log.1", "0.log.2"]);
    expect(fs.readFileSync(`${logFile}.1`, "utf8")).toContain(" F 4 zzz");
    write("stdout", `${"w".repeat(1023)}\n`.repeat(3000));
    pump.drain();
    runTimers();
    const raw = fs.statSync(path.join(directory, "stdout"));
    expect(raw.blocks * 512).toBeLessThan(raw.size);
  });

  it("tells listeners until they stop listening", () => {
    let heard = 0;
    const stop = pump.onAppend(() => heard++);
    write("stdout", "one\n");
    pump.drain();
    pump.drain();
    stop();
    write("stdout", "two\n");
    pump.drain();
    expect(heard).toBe(1);
  });
});
