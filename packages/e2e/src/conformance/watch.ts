import assert from "node:assert/strict";
import { request as httpsRequest } from "node:https";
import { requestOptions } from "./request.ts";
import type { Connection } from "./targets/target.ts";

interface SeenEvent {
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- assertions reach into objects of every kind
  readonly object: any;
}

export interface OpenWatch {
  readonly status: number;
  /** The next event; fails when the stream ends or nothing comes in time. */
  next(limitMs?: number): Promise<SeenEvent>;
  /** Everything until the server ends the stream. */
  rest(limitMs?: number): Promise<SeenEvent[]>;
  close(): void;
}

/** A watch as a plain HTTP client sees it. */
export function openWatch(connection: Connection, path: string): Promise<OpenWatch> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(`${connection.url}${path}`, requestOptions(connection, "GET"), (response) => {
      const events: SeenEvent[] = [];
      const stream = { ended: false };
      let pending = "";
      let wake = (): void => undefined;
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        const lines = (pending + text).split("\n");
        pending = lines.pop() ?? "";
        // A watch answers with one event per line.
        events.push(...lines.filter((line) => line !== "").map((line) => JSON.parse(line) as SeenEvent));
        wake();
      });
      const end = (): void => {
        stream.ended = true;
        wake();
      };
      response.on("end", end);
      response.on("error", end);
      response.on("close", end);
      const more = (limitMs: number): Promise<void> =>
        new Promise((done) => {
          const timer = setTimeout(done, limitMs);
          wake = () => {
            clearTimeout(timer);
            done();
          };
        });
      resolve({
        status: response.statusCode ?? 0,
        async next(limitMs = 15_000) {
          if (events.length === 0 && !stream.ended) await more(limitMs);
          const event = events.shift();
          assert.ok(event !== undefined, stream.ended ? "the watch has ended" : `no event within ${limitMs} ms`);
          return event;
        },
        async rest(limitMs = 15_000) {
          const deadline = Date.now() + limitMs;
          while (!stream.ended && Date.now() < deadline) await more(deadline - Date.now());
          assert.ok(stream.ended, `the watch did not end within ${limitMs} ms`);
          return events.splice(0);
        },
        close: () => request.destroy(),
      });
    });
    request.on("error", reject);
    request.end();
  });
}
