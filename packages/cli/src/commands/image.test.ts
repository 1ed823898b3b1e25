import { describe, expect, it } from "vitest";
import { splitWords } from "./image.ts";

describe("splitWords", () => {
  it.each([
    ["node launcher.js --stack mine", ["node", "launcher.js", "--stack", "mine"]],
    [`sh -c "echo 'a b'"`, ["sh", "-c", "echo 'a b'"]],
    [`run --name='two words' "" end`, ["run", "--name=two words", "", "end"]],
    ["   ", []],
  ])("reads %s", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });
});
