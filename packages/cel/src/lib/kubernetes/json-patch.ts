import { escapePointerPart } from "@polyvirt/core";
import { traverse } from "../../cost-rules.ts";
import { args, declare, global } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { STRING } from "../../types.ts";

/** `jsonpatch.escapeKey("a/b")`: a key as part of a JSON pointer. */
export const jsonPatchLibrary: Library = {
  name: "kubernetes.jsonpatch",
  functions: [
    declare(
      "jsonpatch.escapeKey",
      [global("string_jsonpatch_escapeKey_string", [args.string], STRING, escapePointerPart)],
      { cost: ([text]) => traverse(text) },
    ),
  ],
};
