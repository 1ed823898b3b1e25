import { expect, it } from "vitest";

import { duplicateFields } from "./duplicate-fields.ts";

it.each([
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":2}', ["a"]],
  ['{"spec":{"x":1,"y":{"x":1},"x":2}}', ["spec.x"]],
  ['{"list":[{"a":1},{"a":1,"a":2}]}', ["list[1].a"]],
  ['{"a":"x,\\"a\\":{","b":"}"}', []],
  ['{"a":[1,2,[3]],"b":{},"a":null}', ["a"]],
  ['{"\\u0061":1,"a":2}', ["a"]],
  ["[]", []],
])("%s", (text, expected) => {
  JSON.parse(text);
  expect(duplicateFields(text)).toEqual(expected);
});
