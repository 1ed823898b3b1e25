import { expect, it } from "vitest";

import { ageOf } from "./columns.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

it.each([
  [0, "0s"],
  [119 * second, "119s"],
  [120 * second, "2m"],
  [3 * minute + 20 * second, "3m20s"],
  [10 * minute, "10m"],
  [3 * hour, "3h"],
  [3 * hour + 5 * minute, "3h5m"],
  [9 * hour, "9h"],
  [2 * day + 4 * hour, "2d4h"],
  [12 * day, "12d"],
  [3 * 365 * day + 30 * day, "3y30d"],
  [9 * 365 * day, "9y"],
])("%d ms ago is shown as %s", (ago, expected) => {
  const now = Date.parse("2026-06-01T00:00:00Z");
  expect(ageOf(new Date(now - ago).toISOString(), now)).toBe(expected);
});
